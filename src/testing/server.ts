import { randomBytes } from 'node:crypto';
import { pino } from 'pino';

import { createApp, loadServices, type ServedName, type App } from '../app.ts';
import { listen, type Listening } from '../http/listen.ts';
import type { ServiceModule } from '../http/service.ts';
import { createSealer } from '../lib/seal.ts';
import { readSettings } from '../lib/settings.ts';
import { testDatabase, type TestDatabase } from './database.ts';
import { send } from './send.ts';

export { childServer, type ChildServer } from './child-server.ts';

export interface TestServer {
  /** The server's URL, without a trailing slash. Services are at `/<service>`. */
  readonly url: string;
  /** The URLs of the ports that services have of their own, whatever their numbers in the settings are. */
  readonly ports: readonly string[];
  readonly rootToken: string;
  readonly db: TestDatabase;
  /** Sends a request as root, or with another credential or none. */
  request(method: string, path: string, options?: TestRequest): Promise<TestResponse>;
  /** Stops the server and starts it again on the same database, at a new address. */
  restart(): Promise<void>;
  /** Stops the server and removes its database. Throws when strict mode saw the server break its contract. */
  close(): Promise<void>;
}

export interface TestRequest {
  /** Sent as JSON; text and bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The Bearer token; by default the root token, null sends no credential. */
  token?: string | null;
  /** An API key in `X-API-Key`, instead of a token. */
  apiKey?: string;
  /** The `X-Tenant-ID` header. */
  tenant?: string;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body when it is JSON, else the text; undefined when it is empty. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
  readonly text: string;
}

export interface TestServerOptions {
  services: readonly ServedName[];
  /**
   * Modules that a test makes up, under names that the contract knows. Their migrations are not applied. One of a service that is served
   * takes its place.
   */
  modules?: readonly ServiceModule[];
  /** Whether a second check validates requests and responses; true by default. */
  strict?: boolean;
  /** Whether the server behaves as with `NODE_ENV=production`. */
  production?: boolean;
  /** Whether addresses that users provide may be private; true by default. */
  allowPrivateTargets?: boolean;
  /** Settings of the services, by the names of their environment variables. */
  env?: Readonly<Record<string, string>>;
  /** Receives the log lines, for tests that inspect them. */
  log?: { write(line: string): void };
  trustedProxy?: readonly string[];
  /** Origins whose pages may call. */
  corsOrigins?: readonly string[];
  /** Where services run that this server needs but does not serve. */
  remotes?: Readonly<Record<string, { url: string; token: string }>>;
}

/** Starts a server in this process on a free port, in strict contract mode by default, with a fresh database. */
export async function testServer(options: TestServerOptions): Promise<TestServer> {
  const rootToken = randomBytes(24).toString('base64url');
  let db = await testDatabase({ services: options.services });
  let running = await run(db, rootToken, options);
  return {
    get url() {
      return running.url;
    },
    get ports() {
      return running.ports;
    },
    rootToken,
    get db() {
      return db;
    },
    request: (method, path, request = {}) => send(running.url + path, method, rootToken, request),
    async restart() {
      await running.end();
      db = await db.reopen();
      running = await run(db, rootToken, options);
    },
    async close() {
      try {
        await running.end();
      } finally {
        await db.close();
      }
    },
  };
}

/** The same key for all servers of a test run, so that a server can restart on its database, and tests can read sealed data. */
export const masterKey = Buffer.alloc(32, 7);
export const testSealer = createSealer(masterKey);

async function run(
  db: TestDatabase,
  rootToken: string,
  {
    services,
    modules = [],
    env = {},
    log,
    trustedProxy = [],
    corsOrigins = [],
    remotes = {},
    strict = true,
    production = false,
    allowPrivateTargets = true,
  }: TestServerOptions,
) {
  const app = await createApp({
    db,
    modules: [
      ...(await loadServices(services.filter((name) => !modules.some((made) => made.name === name)))),
      ...modules,
    ],
    config: {
      rootToken,
      operator: { tenant: 'default', app: 'default' },
      trustedProxy,
      corsOrigins,
      anonymousRoot: false,
      strict,
      dataDir: db.options.dataDir,
      production,
      publicUrl: 'http://127.0.0.1:4000',
      allowPrivateTargets,
      sealer: testSealer,
      remotes,
      settingsOf: ({ settings }) => readSettings(settings, env),
    },
    log: log ? pino({ level: 'info' }, log) : pino({ level: 'silent' }),
    prefixed: true,
  });
  const place = { host: '127.0.0.1', port: 0 };
  const listening = await listen(app.handle, place);
  const others = await Promise.all(app.ports.map(({ handle }) => listen(handle, place)));
  await app.start();
  const [url, ...ports] = [listening, ...others].map(({ port }) => `http://127.0.0.1:${port}`);
  return { url: url!, ports, end: () => end(app, [listening, ...others]) };
}

async function end(app: App, listening: readonly Listening[]): Promise<void> {
  app.end();
  await Promise.all(listening.map((one) => one.close(5_000)));
  await app.stop();
  if (app.breaches.length > 0)
    throw new Error(`the contract was broken: ${app.breaches.map(({ message }) => message).join('; ')}`);
}
