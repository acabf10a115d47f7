import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** A file of an archive. */
export interface ArchiveFile {
  /** Its path below the folder of the archives. */
  readonly ref: string;
  /** In hex. */
  readonly sha256: string;
  readonly size: number;
}

/** Where archives are kept. */
export interface ArchiveFiles {
  /**
   * Writes lines of JSON, compressed, and reads them back before it says that they are there. The name follows from the place and the
   * digest, so that a repetition after a crash replaces the file.
   * @param place the beginning of the path
   */
  write(place: string, lines: AsyncIterable<object>): Promise<ArchiveFile>;
  /** Removes what was written to a place, but for these files. */
  remove(place: string, kept: readonly string[]): Promise<void>;
  /** The content of a file; undefined when it is not here. */
  read(ref: string): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export function archiveFiles(folder: string): ArchiveFiles {
  return {
    async write(place, lines) {
      // Two processes may write the same archive at once.
      const draft = join(folder, `${place}.${randomBytes(6).toString('hex')}.draft`);
      await mkdir(dirname(draft), { recursive: true });
      try {
        const written = createHash('sha256');
        await pipeline(
          Readable.from(textOf(lines)),
          createGzip(),
          async function* noted(pieces: AsyncIterable<Buffer>) {
            for await (const piece of pieces) {
              written.update(piece);
              yield piece;
            }
          },
          createWriteStream(draft),
        );
        await synced(draft);
        const sha256 = written.digest('hex');
        if ((await digestOf(draft)) !== sha256) throw new Error('an archive is not what was written');
        const ref = `${place}-${sha256.slice(0, 8)}.ndjson.gz`;
        await rename(draft, join(folder, ref));
        await synced(dirname(join(folder, ref)));
        return { ref, sha256, size: (await stat(join(folder, ref))).size };
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },

    async remove(place, kept) {
      const names = await readdir(join(folder, dirname(place))).catch(unlessMissing);
      const own = new RegExp(`^${basename(place)}(\\.[0-9a-f]{12}\\.draft|-[0-9a-f]{8}\\.ndjson\\.gz)$`);
      const refs = names.filter((name) => own.test(name)).map((name) => `${dirname(place)}/${name}`);
      for (const ref of refs) if (!kept.includes(ref)) await rm(join(folder, ref), { force: true });
    },

    async read(ref) {
      const path = join(folder, ref);
      return await stat(path).then(
        () => createReadStream(path),
        () => undefined,
      );
    },
  };
}

function unlessMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code !== 'ENOENT') throw error;
  return [];
}

async function* textOf(lines: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

/** Waits until a file or folder is on the disk. */
async function synced(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}
