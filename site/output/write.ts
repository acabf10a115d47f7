/** Makes of the generator's output what the server serves. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compressAll } from './compressed.ts';
import { filesIn } from './files.ts';
import { withoutInlineScripts } from './inline-scripts.ts';

/** Files in this folder of the site have names that say what is in them. */
const hashed = '_astro';

/** Moves the scripts out of the pages of a site, and adds the images of the guides. */
export async function completeSite(folder: string, base: string, images: string): Promise<void> {
  for (const page of await filesIn(folder, ['**/*.html'])) {
    const file = join(folder, page);
    const { html, scripts } = withoutInlineScripts(await readFile(file, 'utf8'), `${base}${hashed}/`);
    await writeFile(file, withoutScheme(html));
    for (const [name, text] of scripts) await writeFile(join(folder, hashed, name), text);
  }
  await cp(images, join(folder, 'images'), { recursive: true }).catch(ifMissing);
}

/** Without scripts, nothing says which colours are chosen, so that the system's preference decides. */
const withoutScheme = (html: string): string => html.replace(/(<html[^>]*?) data-theme="\w+"/, '$1');

export async function compressFolder(folder: string): Promise<void> {
  const files = await filesIn(folder, ['**/*.*']);
  await compressAll(files.map((file) => join(folder, file)));
}

/** Copies the program of the interactive reference. Its version is in its name, so that browsers may keep it. */
export async function copyInteractive(folder: string, modules: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(modules, 'package.json'), 'utf8')) as {
    version: string;
  };
  await mkdir(folder, { recursive: true });
  await cp(join(modules, 'dist/browser/standalone.js'), join(folder, `scalar-${version}.js`));
}

function ifMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
