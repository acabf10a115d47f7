import { rm, writeFile } from 'node:fs/promises';
import { lockDirectory } from '../db/directory-lock.ts';
import { isFolder } from '../lib/folders.ts';
import { UsageError } from '../sentence.ts';
import { type Member, writeArchive } from './archive.ts';
import { manifestOf, names, ownStorageDir, schemasOf, type Subject } from './contents.ts';
import { runTool } from './postgres-tools.ts';

/** The lock of a running server is not part of what it stores. */
const isSkipped = (name: string) => /^data\/lock(\.|$)/.test(name);

/**
 * Writes everything that a server stores to a new file: the database, the bytes of objects, archives, the root token and the master key.
 * PostgreSQL may be in use meanwhile; the embedded database must not be.
 * @throws UsageError when there is such a file already, or no data directory
 * @throws DirectoryInUse when a server has the embedded database open
 */
export async function backup(subject: Subject, file: string): Promise<void> {
  const { dataDir, databaseUrl, masterKey } = subject.config;
  if (!(await isFolder(dataDir)))
    throw new UsageError(`There is no folder ${dataDir}. Name the data directory of the server with --data.`);
  const lock = databaseUrl === undefined ? await lockDirectory(dataDir) : undefined;
  const drafts = { manifest: `${file}.manifest`, dump: `${file}.dump` };
  try {
    await writeArchive(file, membersOf(subject, drafts), isSkipped);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UsageError(`${file} exists already. Choose another name, or remove it.`);
    if (path?.startsWith(file)) throw new UsageError(`${file} cannot be written (${code}).`);
    throw error;
  } finally {
    // Where no draft could be made, none can be removed; the reason is told already.
    await Promise.all(Object.values(drafts).map((draft) => rm(draft, { force: true }).catch(() => {})));
    await lock?.release();
  }
  process.stdout.write(
    `${file} holds the database, and all else that is kept in ${dataDir}.\n` +
      (masterKey === undefined
        ? 'The master key is in it: who can read the file can read everything.\n'
        : 'The master key is not in it: without PLINTH_MASTER_KEY, what is sealed cannot be read.\n'),
  );
}

/** The database comes first: every byte that it names is on the disk by then, and stays there for a while when it is deleted. */
async function* membersOf(
  subject: Subject,
  { manifest, dump }: { readonly manifest: string; readonly dump: string },
): AsyncGenerator<Member> {
  const { config, modules } = subject;
  await writeFile(manifest, `${JSON.stringify(manifestOf(config), null, 2)}\n`);
  yield { path: manifest, name: names.manifest };
  if (config.databaseUrl !== undefined) {
    await writeFile(dump, '', { mode: 0o600 });
    await runTool('pg_dump', config.databaseUrl, [
      ...['--format=custom', '--no-owner', '--no-privileges', `--file=${dump}`],
      ...schemasOf(modules).map((schema) => `--schema=${schema}`),
    ]);
    yield { path: dump, name: names.dump };
  }
  yield { path: config.dataDir, name: names.data };
  const storage = ownStorageDir(subject);
  if (storage !== undefined) yield { path: storage, name: names.storage };
}
