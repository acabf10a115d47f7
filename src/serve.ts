import type { Logger } from 'pino';
import { createApp, type App } from './app.ts';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './db/index.ts';
import { checkMasterKey } from './db/master-key.ts';
import { migrate } from './db/migrate.ts';
import { listen, type Listening } from './http/listen.ts';
import type { ServiceModule } from './http/service.ts';
import type { Sealer } from './lib/seal.ts';

export interface Served {
  readonly url: string;
  readonly engine: Database['engine'];
  /** Ends in order: no new requests, event streams, requests in flight, background work, the database. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly config: Config;
  /** The modules of all services; the configuration says which are served. */
  readonly modules: readonly ServiceModule[];
  readonly rootToken: string;
  readonly sealer: Sealer;
  readonly log: Logger;
}

/** Milliseconds that requests in flight may still take when the server ends. */
const grace = 10_000;

/** Opens the database, brings it up to date, and serves. What was opened is closed again when a step fails. */
export async function serve({ config, modules, rootToken, sealer, log }: ServeOptions): Promise<Served> {
  const chosen = modules.filter(({ name }) => config.services.includes(name));
  const db = await openDatabase({ url: config.databaseUrl, dataDir: config.dataDir, log });
  let app: App | undefined;
  let listening: Listening | undefined;
  const close = async () => {
    app?.end();
    await listening?.close(grace);
    await app?.stop();
    await db.close();
  };
  try {
    await migrate(db, chosen, log);
    await checkMasterKey(db.sql, sealer);
    const prefixed = chosen.length > 1;
    app = await createApp({ db, modules: chosen, config: { ...config, rootToken, sealer }, log, prefixed });
    await app.start();
    listening = await listen(app.handle, config);
  } catch (error) {
    await close();
    throw error;
  }
  return { url: urlOf(listening), engine: db.engine, close };
}

/** Where a person on this machine reaches a server that listens there. */
export function urlOf({ host, port }: Pick<Listening, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
