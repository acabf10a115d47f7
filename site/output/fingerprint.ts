/** Tells whether the built site is still what a new build would make. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesIn } from './files.ts';

/** What the pages are made of. The lock file stands for the generator and for all that it loads. */
const inputs = [
  '*.md',
  'docs/**/*.*',
  'site/*.ts',
  'site/{output,public,reference,theme}/**/*.*',
  'tsp-output/openapi/*.json',
  'generated/operations.ts',
  'package-lock.json',
];

export async function fingerprintOf(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of await filesIn(root, inputs))
    hash.update(`${file}\n`).update(await readFile(join(root, file)));
  return hash.digest('hex');
}
