import cluster from 'node:cluster';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { loadServices, serviceNames } from './app.ts';
import { announce } from './banner.ts';
import { checkPublicUrl, type Config, readConfig } from './config.ts';
import { endLease, settings as engineSettings } from './db/engine/index.ts';
import { type Database, openDatabase } from './db/index.ts';
import { checkMasterKey } from './db/master-key.ts';
import { migrate } from './db/migrate.ts';
import { checkPort } from './http/listen.ts';
import { createLog } from './http/log.ts';
import type { ServiceModule } from './http/service.ts';
import { surviveStrayErrors } from './lib/stray-errors.ts';
import { exportSpans } from './lib/tracing/export.ts';
import { loadSealer } from './master-key.ts';
import { loadRootToken } from './root-token.ts';
import { sentence, UsageError } from './sentence.ts';
import { answerPulse } from './pulse.ts';
import { placeOf, serve, urlOf } from './serve.ts';
import { checkMockIsInstalled } from './commands/mock.ts';
import { printToken } from './commands/token.ts';
import { startWorkers } from './workers.ts';
import { tellLease } from './worker-leases.ts';

const help = await readFile(new URL('../bin/help.txt', import.meta.url), 'utf8');

const flags = {
  port: { type: 'string' },
  host: { type: 'string' },
  data: { type: 'string' },
  stateful: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

interface Command {
  readonly config: Config;
  readonly modules: readonly ServiceModule[];
  readonly log: Logger;
  readonly stateful: boolean;
  /** What follows the name of the command. */
  readonly words: readonly string[];
}

const commands: Readonly<Record<string, (command: Command) => Promise<void>>> = {
  serve: async (command) => {
    checkPublicUrl(command.config);
    if (cluster.isWorker) return serveHere(command);
    await checkPort(command.config);
    return command.config.workers > 1 ? serveByWorkers(command) : serveHere(command);
  },
  mock: async ({ config: { host, port }, stateful }) => {
    checkMockIsInstalled();
    const { startMock } = await import('./mock/index.ts');
    const mock = await startMock({ host, port, stateful });
    onSignal(() => mock.close());
  },
  migrate: async ({ config, modules, log }) => {
    const db = await openDatabase(placeOf(config, log));
    try {
      const count = await migrate(
        db,
        modules.filter(({ name }) => config.services.includes(name)),
        log,
      );
      process.stdout.write(count === 0 ? 'The database is up to date.\n' : `Applied ${count} migrations.\n`);
    } finally {
      await db.close();
    }
  },
  doctor: async ({ config, modules, log }) => {
    const { doctor } = await import('./commands/doctor.ts');
    process.exitCode = (await doctor(config, modules, log)) ? 0 : 1;
  },
  backup: async ({ words, ...subject }) => {
    const { backup } = await import('./commands/backup.ts');
    await backup(subject, fileIn(words));
  },
  restore: async ({ words, ...subject }) => {
    const { restore } = await import('./commands/restore.ts');
    await restore(subject, fileIn(words));
  },
  token: async ({ config }) => printToken(config),
};

function fileIn([file]: readonly string[]): string {
  if (file === undefined) throw new UsageError('The command needs the name of a file. See --help.');
  return file;
}

/** How many words may follow the name of a command; after `serve`, any number of services. */
const mostWords: Readonly<Record<string, number>> = { serve: Infinity, backup: 1, restore: 1 };

// What the server tells the person who starts it may have no reader, or a full disk. It goes on without one.
process.stderr.on('error', () => {});

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${sentence(error)}\n`);
  process.exit(1);
});

async function main(words: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: words, options: flags, allowPositionals: true });
  const [name, ...rest] = positionals;
  if (values.help || name === undefined) return void process.stdout.write(help);
  const modules = await loadServices(serviceNames);
  const ofService = modules.find((module) => module.name === name)?.commands?.[rest.join(' ')];
  const command = ofService ? onDatabase(ofService) : commands[name];
  if (!command || (!ofService && rest.length > (mostWords[name] ?? 0)))
    throw new UsageError(`There is no command ${positionals.join(' ')}. See --help.`);
  if (values.stateful && name !== 'mock') throw new UsageError('Only the mock can be --stateful.');
  const services = name === 'serve' && rest.length > 0 ? rest : undefined;
  const config = readConfig(modules, { ...values, services });
  const log = createLog({ level: config.logLevel, readable: process.stdout.isTTY });
  await command({ config, modules, log, stateful: values.stateful, words: rest });
}

/** A command of a service, which needs the database and nothing else. */
function onDatabase(run: (db: Database) => Promise<string>) {
  return async ({ config, log }: Command): Promise<void> => {
    const db = await openDatabase(placeOf(config, log));
    try {
      process.stdout.write(`${await run(db)}\n`);
    } finally {
      await db.close();
    }
  };
}

async function serveHere({ config, modules, log }: Command): Promise<void> {
  // Until the server accepts requests, a signal ends it at once: every step of the start may be interrupted.
  let close = async () => {};
  onSignal(() => close());
  if (cluster.isWorker) answerPulse();
  const endSpans = config.exportsSpans ? await exportSpans() : undefined;
  const root = await loadRootToken(config);
  const sealer = await loadSealer(config);
  const onLease = cluster.isWorker ? tellLease : undefined;
  const served = await serve({ config, modules, rootToken: root.token, sealer, log, onLease });
  let closing: Promise<void> | undefined;
  close = () =>
    (closing ??= (async () => {
      log.info('shutting down');
      await served.close();
      await endSpans?.();
      log.flush();
    })());
  surviveStrayErrors(log, () => void close().finally(() => process.exit(1)));
  if (cluster.isPrimary)
    announce({ config, modules, root, sealer, url: served.url, engine: served.engine, log });
}

/** Prepares the root token, the schema and the master key once, before the workers start. */
async function serveByWorkers({ config, modules, log }: Command): Promise<void> {
  let close = async () => {};
  onSignal(() => close());
  const root = await loadRootToken(config);
  const sealer = await loadSealer(config);
  const db = await openDatabase(placeOf(config, log));
  try {
    await migrate(
      db,
      modules.filter(({ name }) => config.services.includes(name)),
      log,
    );
    await checkMasterKey(db.sql, sealer);
  } finally {
    await db.close();
  }
  const settings = config.settingsOf({ settings: engineSettings });
  const workers = startWorkers(config.workers, { PLINTH_ROOT_TOKEN: root.token }, log, async (leaseId) => {
    const db = await openDatabase(placeOf(config, log));
    await endLease({ db, log, settings }, leaseId).finally(() => db.close());
  });
  close = () => workers.close();
  const url = urlOf({ host: config.host, port: await workers.listening });
  announce({ config, modules, root, sealer, url, engine: 'postgres', log });
}

/** Shuts down in order at the first signal, and at once at the second. */
function onSignal(close: () => Promise<unknown>): void {
  let ending = false;
  const end = () => {
    if (ending) process.exit(130);
    ending = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${sentence(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end).on('SIGINT', end);
}
