/** A PostgreSQL server that belongs to one drill, which may stop and start it. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './server.ts';

const run = promisify(execFile);
const installed = '/usr/lib/postgresql';

export interface Cluster {
  readonly url: string;
  /** Stops the server as `pg_ctl stop -m immediate` does, which is a crash, and starts it again. */
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a new server; undefined when its programs are missing on this machine, or when this user may not run them. */
export async function createCluster(): Promise<Cluster | undefined> {
  const programs = findPrograms();
  const as = await otherUser();
  if (programs === undefined || as === undefined) return undefined;
  const folder = await mkdtemp('/tmp/plinth-cluster-');
  if (as.uid !== undefined) await chown(folder, as.uid, as.gid!);
  const data = join(folder, 'data');
  const port = await freePort();
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=200`;
  const control = (...words: string[]) =>
    run(join(programs, 'pg_ctl'), ['-D', data, '-w', '-l', join(folder, 'log'), ...words], {
      ...as,
      cwd: folder,
    });
  const start = () => control('-o', settings, 'start');
  await run(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '-N'], {
    ...as,
    cwd: folder,
  });
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async restart() {
      await control('-m', 'immediate', 'stop');
      await start();
    },
    async remove() {
      await control('-m', 'immediate', 'stop').catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of `initdb` and `pg_ctl`: the one of the newest version, or one in the path. */
function findPrograms(): string | undefined {
  const versions = existsSync(installed) ? readdirSync(installed) : [];
  const folders = [
    ...versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(installed, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')));
}

/** PostgreSQL refuses to run as root, so the user `postgres` runs it then. Undefined when there is no such user. */
async function otherUser(): Promise<{ readonly uid?: number; readonly gid?: number } | undefined> {
  if (process.getuid?.() !== 0) return {};
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout);
  return await Promise.all([id('-u'), id('-g')]).then(
    ([uid, gid]) => ({ uid, gid }),
    () => undefined,
  );
}
