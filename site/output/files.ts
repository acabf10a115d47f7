import { glob } from 'node:fs/promises';

/** The files that match, with paths relative to the folder, in the order of their names. */
export async function filesIn(folder: string, patterns: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: folder })) files.push(file);
  return files.sort();
}
