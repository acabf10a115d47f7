import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Coding, codings, type Manifest, manifestName } from '../../src/http/site/manifest.ts';
import { filesIn } from './files.ts';

/** Writes down which files a built folder has, for the server. */
export async function writeManifest(folder: string, fingerprint: string): Promise<void> {
  const names = new Set(await filesIn(folder, ['*/**/*.*']));
  const endings = Object.entries(codings) as [Coding, string][];
  const coded = (name: string) => endings.some(([, ending]) => name.endsWith(ending));
  const files: Record<string, Manifest['files'][string]> = {};
  for (const name of [...names].filter((one) => !coded(one))) {
    const tag = createHash('sha256')
      .update(await readFile(join(folder, name)))
      .digest('base64url')
      .slice(0, 16);
    files[name] = {
      tag,
      codings: endings.filter(([, ending]) => names.has(name + ending)).map(([coding]) => coding),
    };
  }
  await writeFile(join(folder, manifestName), JSON.stringify({ fingerprint, files } satisfies Manifest));
}

/** The fingerprint of a built folder; undefined when there is none. */
export async function fingerprintIn(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Manifest).fingerprint;
}
