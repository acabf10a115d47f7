import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { UsageError } from '../sentence.ts';

/** Prints the root token, and nothing else, so that a script can take it. */
export async function printToken({ rootToken, dataDir }: Config): Promise<void> {
  const file = join(dataDir, 'root-token');
  const kept = rootToken ?? (await readFile(file, 'utf8').catch(() => undefined));
  if (kept === undefined)
    throw new UsageError(`There is no root token in ${file} yet: the first start of the server creates it.`);
  process.stdout.write(`${kept.trim()}\n`);
}
