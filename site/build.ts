/**
 * Builds the documentation: `npm run docs` into `site/dist`, where the server finds it, and
 * `npm run docs -- --base /plinth --out public` as a site to publish at another address.
 *
 * An install builds them too. If that fails, the install succeeds nevertheless, and the server says how to build the pages.
 */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fingerprintOf } from './output/fingerprint.ts';
import { fingerprintIn, writeManifest } from './output/manifest.ts';
import { compressFolder, completeSite, copyInteractive } from './output/write.ts';
import { servedBase } from './served-base.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const served = join(root, 'site/dist');

/** Builds what the server serves, unless it is built already. Returns whether it was built now. */
export async function buildServed(): Promise<boolean> {
  const fingerprint = await fingerprintOf(root);
  if ((await fingerprintIn(served)) === fingerprint) return false;
  const folder = `${served}.new`;
  await rm(folder, { recursive: true, force: true });
  await buildSite(join(folder, 'docs'), servedBase);
  await copyInteractive(join(folder, 'interactive'), join(root, 'node_modules/@scalar/api-reference'));
  await compressFolder(folder);
  await writeManifest(folder, fingerprint);
  await rm(served, { recursive: true, force: true });
  await rename(folder, served);
  return true;
}

/** Builds the site into a folder, for this path. */
export async function buildSite(folder: string, base: string): Promise<void> {
  const { build } = await import('astro');
  await mkdir(folder, { recursive: true });
  await build({ root: join(root, 'site'), outDir: folder, base, logLevel: 'error' });
  await completeSite(folder, `${base.replace(/\/$/, '')}/`, join(root, 'docs/images'));
}

async function main(): Promise<void> {
  const { base, out } = parseArgs({ options: { base: { type: 'string' }, out: { type: 'string' } } }).values;
  if (out !== undefined) await buildSite(resolve(out), base ?? '/');
  else if (base !== undefined) throw new Error('--base needs --out, the folder of the site to publish');
  else
    console.log((await buildServed()) ? 'The documentation is built.' : 'The documentation is up to date.');
}

if (import.meta.main) await main();
