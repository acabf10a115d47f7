import { statfs } from 'node:fs/promises';
import type { Log } from './log.ts';

/** Returns the bytes that may still be written to the disk of a folder. */
export type FreeSpace = (folder: string) => Promise<number>;

/** The disk is too full to start. The message is a sentence for the operator. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
}

/** Bytes of two segments of the write-ahead log: with less free space the database cannot even start. */
export const leastToStart = 32 * 2 ** 20;
/** Bytes that a new database needs in addition. */
const newDatabase = 64 * 2 ** 20;
const everyMs = 250;

/** A disk that is out of inodes counts as full, too; file systems that do not count inodes report a total of 0. */
export const freeSpace: FreeSpace = async (folder) => {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return files > 0 && ffree < 32 ? 0 : bavail * bsize;
};

/** Throws `DiskFull` when the disk of the folder has too little space for the database to start. */
export async function checkSpace(folder: string, isNew: boolean, free: FreeSpace = freeSpace): Promise<void> {
  const needed = leastToStart + (isNew ? newDatabase : 0);
  const found = await free(folder);
  if (found >= needed) return;
  throw new DiskFull(
    `the disk of ${folder} has ${megabytes(found)} MB free, and the database needs ${megabytes(needed)} MB to start: free some space, or choose another directory with PLINTH_DATA_DIR`,
  );
}

export interface DiskWatch {
  /** Whether the last check found less free space than wanted. */
  isLow(): boolean;
  readonly stop: () => void;
}

/** Checks the free space four times a second and calls `onChange` when it falls below `edge` bytes or is well above it again. */
export function watchDisk({
  folder,
  edge,
  onChange,
  log,
  free = freeSpace,
}: {
  folder: string;
  edge: number;
  onChange: (low: boolean) => void;
  log: Log;
  free?: FreeSpace | undefined;
}): DiskWatch {
  let low = false;
  let looking = false;

  async function look(): Promise<void> {
    const found = await free(folder);
    const now = found < (low ? edge * 1.1 : edge);
    if (now === low) return;
    low = now;
    const space = { folder, free_mb: megabytes(found), edge_mb: megabytes(edge) };
    if (low)
      log.error(space, 'the disk of the database is nearly full: writes are refused until space is freed');
    else log.info(space, 'the disk of the database has space again: writes are taken');
    onChange(low);
  }

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) =>
        log.warn({ err: error, folder }, 'the free space of the disk could not be read'),
      )
      .finally(() => (looking = false));
  }, everyMs).unref();
  return { isLow: () => low, stop: () => clearInterval(timer) };
}

const megabytes = (bytes: number) => Math.floor(bytes / 2 ** 20);
