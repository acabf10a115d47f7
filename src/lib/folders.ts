import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder, and missing folders above it, for the owner alone. Rejects with the error of the file system. Node's own recursive
 * mkdir never ends on file systems like `/proc`, where nothing can be created although nothing is in the way.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (await isFolder(path)) return;
    const above = dirname(path);
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) throw error;
    if (!(await isFolder(above))) await makeFolder(above);
    // The folder above exists by now, perhaps because another process has just created it. A second failure is an error of the
    // file system.
    await makeIn(path);
  }
}

async function makeIn(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!(await isFolder(path))) throw error;
  }
}

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
