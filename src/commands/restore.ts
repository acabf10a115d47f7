import { access, mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { lockDirectory } from '../db/directory-lock.ts';
import { schemaAmong } from '../db/inspection.ts';
import { makeFolder } from '../lib/folders.ts';
import { UsageError } from '../sentence.ts';
import { firstMember, inside, readArchive } from './archive.ts';
import { checkManifest, names, ownStorageDir, schemasOf, type Subject } from './contents.ts';
import { runTool } from './postgres-tools.ts';

/**
 * Fills an empty data directory, and an empty database, with what a backup holds. Nothing is overwritten.
 * @throws UsageError when something is there already, or when the file is not a backup for this configuration
 */
export async function restore(subject: Subject, file: string): Promise<void> {
  const { dataDir, databaseUrl } = subject.config;
  await access(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code ?? error.message}).`);
  });
  await makeFolder(dataDir);
  const lock = await lockDirectory(dataDir);
  const drafts = await mkdtemp(join(dirname(resolve(dataDir)), '.plinth-restore-'));
  try {
    const first = await firstMember(file);
    checkManifest(first.name === names.manifest ? first.text : '', subject.config);
    await checkEmpty(subject);
    await readArchive(file, placesIn(subject, drafts));
    if (databaseUrl !== undefined)
      await runTool('pg_restore', databaseUrl, [
        ...['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges'],
        join(drafts, names.dump),
      ]);
  } finally {
    await rm(drafts, { recursive: true, force: true });
    await lock.release();
  }
  process.stdout.write(
    `Restored into ${dataDir}${databaseUrl === undefined ? '' : ' and the database of DATABASE_URL'}.\n`,
  );
}

async function checkEmpty(subject: Subject): Promise<void> {
  const { config, modules } = subject;
  for (const folder of [config.dataDir, ownStorageDir(subject)]) {
    const kept = folder === undefined ? [] : await readdir(folder).catch(() => []);
    if (kept.some((name) => !/^lock(\.|$)/.test(name)))
      throw new UsageError(`${folder} is not empty. Choose another data directory with --data.`);
  }
  if (config.databaseUrl === undefined) return;
  const schema = await schemaAmong(config.databaseUrl, schemasOf(modules));
  if (schema !== undefined)
    throw new UsageError(
      `The database of DATABASE_URL has a schema ${schema} already. Create an empty database for it.`,
    );
}

/** Where each member goes. */
function placesIn({ config, ...subject }: Subject, drafts: string) {
  const storage = ownStorageDir({ config, ...subject }) ?? join(config.dataDir, names.storage);
  return (name: string): string | undefined => {
    const [top, ...rest] = name.split('/');
    const below = rest.join('/');
    if (top === names.dump) return join(drafts, names.dump);
    if (below === '') return undefined;
    if (top === names.data) return inside(config.dataDir, below);
    return top === names.storage ? inside(storage, below) : undefined;
  };
}
