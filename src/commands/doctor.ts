import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { DirectoryInUse } from '../db/directory-lock.ts';
import { type Database, openDatabase } from '../db/index.ts';
import { factsOf } from '../db/inspection.ts';
import { masterKeyProblem, sealedFingerprint } from '../db/master-key.ts';
import { pendingMigrations } from '../db/migrate.ts';
import type { ServiceModule } from '../http/service.ts';
import { loadSealer } from '../master-key.ts';
import { sentence } from '../sentence.ts';
import { placeOf } from '../serve.ts';
import { type Finding, ok, problem, settingFindings, warning } from './findings.ts';

/** Says what is in order, unsafe or missing in this configuration. Returns whether the server can start with it. */
export async function doctor(
  config: Config,
  modules: readonly ServiceModule[],
  log: Logger,
): Promise<boolean> {
  const served = modules.filter(({ name }) => config.services.includes(name));
  const findings: Finding[] = [
    ok(`Node.js ${process.version} runs this.`),
    ...settingFindings(config, served),
  ];
  findings.push(...(await secretFindings(config)), ...(await diskFindings(config)));
  findings.push(...(await databaseFindings(config, served, log)));
  for (const { level, text } of findings) process.stdout.write(`${level.padEnd(8)} ${text}\n`);
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  const counted = (level: Finding['level']) => `${count(level)} ${level}${count(level) === 1 ? '' : 's'}`;
  process.stdout.write(`${counted('warning')}, ${counted('problem')}\n`);
  return count('problem') === 0;
}

/** Whether others on this machine can read what the data directory keeps. */
async function secretFindings({ dataDir, rootToken, masterKey }: Config): Promise<Finding[]> {
  const kept = [
    ...(rootToken === undefined ? [join(dataDir, 'root-token')] : []),
    ...(masterKey === undefined ? [join(dataDir, 'master-key')] : []),
  ];
  const found = await Promise.all(
    kept.map(async (file) => {
      const mode = await stat(file).then(
        (known) => known.mode,
        () => undefined,
      );
      if (mode === undefined) return ok(`${file} is created at the first start.`);
      return (mode & 0o077) === 0
        ? ok(`${file} is readable by its owner only.`)
        : warning(`Other users of this machine can read ${file}. Run chmod 600 ${file}.`);
    }),
  );
  return found;
}

async function diskFindings({ dataDir, minFreeMb }: Config): Promise<Finding[]> {
  const space = await statfs(dataDir).catch(() => undefined);
  if (space === undefined) return [];
  const free = Math.floor((space.bavail * space.bsize) / 2 ** 20);
  return free > 10 * minFreeMb
    ? [ok(`The disk of ${dataDir} has ${free} MB free.`)]
    : [
        warning(
          `The disk of ${dataDir} has only ${free} MB free, and writes are refused below ${minFreeMb} MB. Free some space.`,
        ),
      ];
}

async function databaseFindings(
  config: Config,
  served: readonly ServiceModule[],
  log: Logger,
): Promise<Finding[]> {
  const { dataDir, databaseUrl } = config;
  if (databaseUrl === undefined && !(await exists(join(dataDir, 'database'))))
    return [ok(`The embedded database is created in ${dataDir} at the first start.`)];
  try {
    const db = await openDatabase(placeOf(config, log));
    try {
      return await stateFindings(db, config, served);
    } finally {
      await db.close();
    }
  } catch (error) {
    return error instanceof DirectoryInUse
      ? [ok(`A server has the database in ${dataDir} open, so it was not looked into.`)]
      : [problem(sentence(error).trim())];
  }
}

async function stateFindings(
  db: Database,
  config: Config,
  served: readonly ServiceModule[],
): Promise<Finding[]> {
  const began = performance.now();
  const { version, aheadMs, mostConnections } = await factsOf(db.sql);
  const took = performance.now() - began;
  const pending = await pendingMigrations(db, served);
  const key = await keyProblem(db, config);
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return [
    ok(`PostgreSQL ${version} answers in ${took.toFixed(1)} ms.`),
    pending === 0
      ? ok('The database is up to date.')
      : warning(
          `${pending} migrations are to be applied. The next start applies them, or plinth migrate does.`,
        ),
    ...connectionFindings(config, mostConnections),
    ...(key === undefined ? [] : [problem(`${key}.`)]),
    ...(seconds < 1
      ? []
      : [
          warning(
            `The clocks of this machine and of the database differ by ${seconds} s. Let both follow a time server.`,
          ),
        ]),
  ];
}

/** What is wrong with the master key. A key that is missing is not created here: the server would not start with a new one. */
async function keyProblem({ sql }: Database, config: Config): Promise<string | undefined> {
  const file = join(config.dataDir, 'master-key');
  if (config.masterKey !== undefined || (await exists(file)))
    return masterKeyProblem(sql, await loadSealer(config));
  return (await sealedFingerprint(sql)) === undefined
    ? undefined
    : `the master key is neither in PLINTH_MASTER_KEY nor in ${file}: what it sealed cannot be read until it is put back`;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Whether the database takes the connections of all processes of this machine. */
function connectionFindings({ workers, databaseConnections, databaseUrl }: Config, most: number): Finding[] {
  if (databaseUrl === undefined) return [];
  const needed = workers * databaseConnections;
  return needed <= most
    ? [ok(`The database takes ${most} connections, and this machine opens at most ${needed}.`)]
    : [
        problem(
          `This machine may open ${needed} connections (PLINTH_WORKERS × PLINTH_DATABASE_CONNECTIONS), and the database takes ${most}. Lower one of them, or raise max_connections.`,
        ),
      ];
}
