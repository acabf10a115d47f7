import { randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../lib/folders.ts';
import { digits } from '../../../lib/id-digits.ts';
import { newId } from '../../../lib/ids.ts';
import { type OneAtATime, oneAtATime } from '../../../lib/one-at-a-time.ts';
import { blockSize } from '../content/block-sums.ts';
import { type BytesDriver, shards, type StoredBytes } from './driver.ts';

export interface FsOptions {
  readonly dir: string;
  readonly fsync: boolean;
}

const idForm = /^blb_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Names a shard by its two digits, of which each stands for five bits. */
const shardName = (shard: number) => digits[shard >> 5]! + digits[shard & 31]!;

/** Creates the directories of all shards where they are missing. */
export async function makeShards(dir: string): Promise<void> {
  await makeFolder(join(dir, 'blobs'));
  for (let shard = 0; shard < shards; shard++) {
    await mkdir(join(dir, 'blobs', shardName(shard)), { mode: 0o700 }).catch(unlessCode('EEXIST'));
  }
  await synced(join(dir, 'blobs'));
}

/** The bytes that are written at once: each time costs a round trip to another thread. */
const bytesPerWrite = blockSize;

/** The bytes that are read at once. All of short content is; of long content, many slow clients must not hold too much. */
const bytesPerRead = (bytes: number): number => (bytes <= 4 * blockSize ? 4 : 2) * blockSize;

/** How long new files go into one shard. Those that are written at the same time share the sync of its directory. */
const shardMs = 1_000;

/**
 * Keeps bytes in files of a directory. A file counts as stored once its bytes and its name are on the disk; until a row names it, nobody
 * reads it. Neither keys nor buckets become file names, so that no key can leave the directory.
 */
export function fsDriver({ dir, fsync }: FsOptions): BytesDriver {
  const folderOf = (id: string) => join(dir, 'blobs', id.slice(-2));
  const pathOf = (id: string) => join(folderOf(id), id);
  let [shard, shardEnds] = ['', 0];
  const syncs = new Map<string, OneAtATime>();
  const syncFolder = async (folder: string): Promise<void> => {
    const sync = syncs.get(folder) ?? oneAtATime(() => synced(folder));
    syncs.set(folder, sync);
    await sync.run();
  };
  return {
    name: 'fs',
    newId() {
      const now = performance.now();
      if (now >= shardEnds) [shard, shardEnds] = [shardName(randomInt(shards)), now + shardMs];
      return newId('blb').slice(0, -shard.length) + shard;
    },
    async put(id, source) {
      const file = await open(pathOf(id), 'wx', 0o600);
      try {
        const size = await written(file, source);
        // Both at once take as long as one.
        if (fsync) await all(file.datasync(), syncFolder(folderOf(id)));
        await file.close();
        return { size };
      } catch (error) {
        await file.close().catch(() => {});
        await rm(pathOf(id), { force: true }).catch(() => {});
        throw error;
      }
    },
    async *get(id, { start, end }) {
      const file = await open(pathOf(id), constants.O_RDONLY);
      const most = bytesPerRead(end - start);
      let closed: Promise<void> | undefined;
      try {
        for (let at = start; at < end;) {
          const read = await filled(file, at, Math.min(most, end - at));
          at += read.length;
          // Whoever takes the last bytes may be slow.
          if (at === end) closed = file.close();
          yield read;
        }
      } finally {
        await (closed ?? file.close());
      }
    },
    async delete(ids) {
      for (const id of ids) await rm(pathOf(id), { force: true });
    },
    async *list(shard) {
      const folder = join(dir, 'blobs', shardName(shard));
      for await (const { name } of await opendir(folder)) {
        const found = await stored(folder, name);
        if (found) yield found;
      }
    },
    async probe() {
      await statfs(dir);
    },
  };
}

/** Writes chunks in groups, and collects the next group while one is written. */
async function written(file: FileHandle, source: AsyncIterable<Uint8Array>): Promise<number> {
  let [group, ofGroup, size]: [Uint8Array[], number, number] = [[], 0, 0];
  let writing = Promise.resolve();
  const write = async () => {
    await writing;
    writing = writtenAt(file, group, size - ofGroup);
    [group, ofGroup] = [[], 0];
    writing.catch(() => {});
  };
  try {
    for await (const chunk of source) {
      group.push(chunk);
      ofGroup += chunk.length;
      size += chunk.length;
      if (ofGroup >= bytesPerWrite) await write();
    }
    if (ofGroup > 0) await write();
  } finally {
    await writing;
  }
  return size;
}

async function writtenAt(file: FileHandle, chunks: Uint8Array[], place: number): Promise<void> {
  const { bytesWritten } = await file.writev(chunks, place);
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  if (bytesWritten === total) return;
  const rest = Buffer.concat(chunks).subarray(bytesWritten);
  for (let from = 0; from < rest.length;)
    from += (await file.write(rest, from, rest.length - from, place + bytesWritten + from)).bytesWritten;
}

/** Waits for all, also when one fails, and throws the first error. */
async function all(...promises: readonly Promise<unknown>[]): Promise<void> {
  for (const settled of await Promise.allSettled(promises))
    if (settled.status === 'rejected') throw settled.reason;
}

async function filled(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafeSlow(length);
  let size = 0;
  while (size < length) {
    const { bytesRead } = await file.read(piece, size, length - size, at + size);
    if (bytesRead === 0) throw new Error(`a file ends after ${at + size} bytes`);
    size += bytesRead;
  }
  return piece;
}

/** A file may go while its directory is listed; files with other names are none of ours. */
async function stored(folder: string, name: string): Promise<StoredBytes | undefined> {
  if (!idForm.test(name)) return undefined;
  const found = await stat(join(folder, name)).catch(unlessCode('ENOENT'));
  return found && { id: name, size: found.size, ageMs: Date.now() - found.mtimeMs };
}

async function synced(folder: string): Promise<void> {
  const opened = await open(folder, constants.O_RDONLY);
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

const unlessCode = (code: string) => (error: unknown) => {
  if (!(error instanceof Error && 'code' in error && error.code === code)) throw error;
  return undefined;
};
