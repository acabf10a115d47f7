#!/usr/bin/env node
import cluster from 'node:cluster';
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
import { loadSealer } from './master-key.ts';
import { loadRootToken } from './root-token.ts';
import { sentence, UsageError } from './sentence.ts';
import { answerPulse } from './pulse.ts';
import { placeOf, serve, urlOf } from './serve.ts';
import { startWorkers } from './workers.ts';
import { tellLease } from './worker-leases.ts';

const help = `Plinth: platform services behind one schema-first project

  node src/main.ts serve [service …]   serve all services, or these (${serviceNames.join(', ')})
  node src/main.ts mock                serve examples for every operation of the contract
  node src/main.ts migrate             bring the database up to date and end
  node src/main.ts sync new-epoch      let all replicas begin again, after an older database was restored

  --port <number>    where to listen (4000; PORT)
  --host <address>   on which address (127.0.0.1; HOST)
  --data <folder>    embedded database and root token (.plinth; PLINTH_DATA_DIR)
  --stateful         the mock remembers what is created, changed and deleted
  --help             this text

Everything else is said by the environment; README.md has the table.
`;

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
}

const commands: Readonly<Record<string, (command: Command) => Promise<void>>> = {
  serve: async (command) => {
    checkPublicUrl(command.config);
    if (cluster.isWorker) return serveHere(command);
    await checkPort(command.config);
    return command.config.workers > 1 ? serveByWorkers(command) : serveHere(command);
  },
  mock: async ({ config: { host, port }, stateful }) => {
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
};

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${sentence(error)}\n`);
  process.exit(1);
});

async function main(words: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: words, options: flags, allowPositionals: true });
  const [name, ...services] = positionals;
  if (values.help || name === undefined) return void process.stdout.write(help);
  const modules = await loadServices(serviceNames);
  const ofService = modules.find((module) => module.name === name)?.commands?.[services.join(' ')];
  const command = ofService ? onDatabase(ofService) : commands[name];
  if (!command || (services.length > 0 && name !== 'serve' && !ofService))
    throw new UsageError(`There is no command ${positionals.join(' ')}. See --help.`);
  if (values.stateful && name !== 'mock') throw new UsageError('Only the mock can be --stateful.');
  const served = services.length > 0 && !ofService ? services : undefined;
  const config = readConfig(modules, { ...values, services: served });
  const log = createLog({ level: config.logLevel, readable: process.stdout.isTTY });
  await command({ config, modules, log, stateful: values.stateful });
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
  const root = await loadRootToken(config);
  const sealer = await loadSealer(config);
  const onLease = cluster.isWorker ? tellLease : undefined;
  const served = await serve({ config, modules, rootToken: root.token, sealer, log, onLease });
  close = async () => {
    log.info('shutting down');
    await served.close();
    log.flush();
  };
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
