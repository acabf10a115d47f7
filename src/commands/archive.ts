/** The file of a backup: a tar archive, so that a person can look into it without Plinth. */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Pack } from 'tar-stream';

/** A file or a folder, and the name under which it stands in the archive. */
export interface Member {
  readonly path: string;
  readonly name: string;
}

/**
 * Writes an archive that its owner alone can read.
 * @param skips whether a name is left out, with everything in it
 * @throws Error EEXIST when there is such a file already
 */
export async function writeArchive(
  file: string,
  members: AsyncIterable<Member> | Iterable<Member>,
  skips: (name: string) => boolean,
): Promise<void> {
  const archive = pack();
  const target = await open(file, 'wx', 0o600);
  const written = pipeline(archive, target.createWriteStream({ flush: true }));
  const adding = (async () => {
    for await (const member of members) await add(archive, member, skips);
    archive.finalize();
  })();
  await Promise.all([
    written,
    adding.catch((error: unknown) => {
      archive.destroy(error as Error);
      throw error;
    }),
  ]);
}

async function add(archive: Pack, { path, name }: Member, skips: (name: string) => boolean): Promise<void> {
  if (skips(name)) return;
  // A running server removes files meanwhile. Those that the database names stay for longer than a backup takes.
  const known = await stat(path).catch(ignoreAbsence);
  if (known?.isDirectory() === true) {
    archive.entry({ name: `${name}/`, type: 'directory', mode: known.mode & 0o777, mtime: known.mtime });
    const inside = await readdir(path).catch(ignoreAbsence);
    for (const each of inside?.sort() ?? [])
      await add(archive, { path: join(path, each), name: `${name}/${each}` }, skips);
  } else if (known?.isFile() === true) {
    const source = await open(path).catch(ignoreAbsence);
    if (source !== undefined) await addFile(archive, source, name).finally(() => source.close());
  }
}

async function addFile(archive: Pack, source: FileHandle, name: string): Promise<void> {
  const { size, mode, mtime } = await source.stat();
  const entry = archive.entry({ name, size, mode: mode & 0o777, mtime });
  // What is appended to a file meanwhile is not part of it.
  const bytes = size === 0 ? Readable.from([]) : source.createReadStream({ end: size - 1, autoClose: false });
  await pipeline(bytes, entry);
}

const ignoreAbsence = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/**
 * Reads an archive in its order.
 * @param placeOf where the file or folder of a name goes; undefined to leave it out
 */
export async function readArchive(
  file: string,
  placeOf: (name: string) => string | undefined,
): Promise<void> {
  const archive = extract();
  const reading = pipeline(createReadStream(file), archive);
  for await (const entry of archive) {
    const { name, type, mode } = entry.header;
    const place = placeOf(name.replace(/\/$/, ''));
    if (place === undefined || (type !== 'file' && type !== 'directory')) {
      entry.resume();
      await once(entry, 'close');
    } else if (type === 'directory') {
      await mkdir(place, { recursive: true, mode: mode ?? 0o700 });
      entry.resume();
    } else {
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await pipeline(entry, createWriteStream(place, { flags: 'wx', mode: mode ?? 0o600, flush: true }));
      await chmod(place, mode ?? 0o600);
    }
  }
  await reading;
}

/** The name and the text of the first member, which is a small one; both are empty when the file is no archive. */
export async function firstMember(file: string): Promise<{ name: string; text: string }> {
  const archive = extract();
  const source = createReadStream(file);
  const reading = pipeline(source, archive).catch(() => {});
  try {
    for await (const entry of archive) {
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      return { name: entry.header.name, text: Buffer.concat(parts).toString() };
    }
  } catch {
    // What cannot be read as an archive is not a backup.
  } finally {
    source.destroy();
    await reading;
  }
  return { name: '', text: '' };
}

/** The path of a member in a folder; undefined when its name leads out of it. */
export function inside(folder: string, name: string): string | undefined {
  const path = resolve(folder, name);
  return path.startsWith(resolve(folder) + sep) ? path : undefined;
}
