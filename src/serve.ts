import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createApp, type App } from './app.ts';
import type { Config } from './config.ts';
import { type Database, type DatabaseOptions, openDatabase } from './db/index.ts';
import { checkMasterKey } from './db/master-key.ts';
import { migrate } from './db/migrate.ts';
import { listen, type Listening } from './http/listen.ts';
import type { ServiceModule } from './http/service.ts';
import { collectBuffersEarly } from './lib/garbage-collection.ts';
import type { Sealer } from './lib/seal.ts';

export interface Served {
  readonly url: string;
  readonly engine: Database['engine'];
  /** Shuts down in order: new requests, event streams, requests in flight, background work, the database. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly config: Config;
  /** The modules of all services; the configuration chooses which are served. */
  readonly modules: readonly ServiceModule[];
  readonly rootToken: string;
  readonly sealer: Sealer;
  readonly log: Logger;
  /** Called with the leases under which the background jobs run. */
  readonly onLease?: ((leaseId: string) => void) | undefined;
}

/** Milliseconds that requests in flight may still take during shutdown. */
const grace = 10_000;

/** Opens the database, migrates it, and serves. When a step fails, everything that was opened is closed again. */
export async function serve({
  config,
  modules,
  rootToken,
  sealer,
  log,
  onLease,
}: ServeOptions): Promise<Served> {
  collectBuffersEarly();
  const chosen = modules.filter(({ name }) => config.services.includes(name));
  const db = await openDatabase(placeOf(config, log));
  let app: App | undefined;
  let listening: Listening | undefined;
  const others: Listening[] = [];
  const close = async () => {
    app?.drain();
    // Load balancers notice that the server is not ready and send no new requests before connections are refused.
    if (listening) await delay(config.drainMs);
    app?.end();
    await Promise.all([listening, ...others].map(async (one) => one?.close(grace)));
    await app?.stop();
    await db.close();
  };
  try {
    await migrate(db, chosen, log);
    await checkMasterKey(db.sql, sealer);
    const prefixed = chosen.length > 1;
    const publicUrl = config.publicUrl ?? urlOf(config);
    const composed = { ...config, rootToken, sealer, publicUrl };
    app = await createApp({ db, modules: chosen, config: composed, log, prefixed, onLease });
    await app.start();
    listening = await listen(app.handle, { ...config, upgrades: app.upgrades });
    for (const { port, handle } of app.ports) others.push(await listen(handle, { host: config.host, port }));
  } catch (error) {
    await close();
    throw error;
  }
  return { url: urlOf(listening), engine: db.engine, close };
}

/** The database that the configuration names. */
export const placeOf = (
  { databaseUrl, databaseConnections, dataDir, minFreeMb }: Config,
  log: Logger,
): DatabaseOptions => ({
  url: databaseUrl,
  connections: databaseConnections,
  dataDir,
  minFree: minFreeMb * 2 ** 20,
  log,
});

/** The URL at which a person on this machine reaches a server that listens on this host and port. */
export function urlOf({ host, port }: Pick<Listening, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
