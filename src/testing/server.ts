import { randomBytes } from 'node:crypto';
import { pino } from 'pino';

import { createApp, loadServices, type ServedName, type App } from '../app.ts';
import { listen, type Listening } from '../http/listen.ts';
import { createSealer } from '../lib/seal.ts';
import { readSettings } from '../lib/settings.ts';
import { testDatabase, type TestDatabase } from './database.ts';

export { childServer, type ChildServer } from './child-server.ts';

export interface TestServer {
  /** Without a slash at its end. Services lie under `/<service>`. */
  readonly url: string;
  readonly rootToken: string;
  readonly db: TestDatabase;
  /** Sends a request as root, or with another credential or none. */
  request(method: string, path: string, options?: TestRequest): Promise<TestResponse>;
  /** Ends the server and starts it again on the same database, at a new address. */
  restart(): Promise<void>;
  /** Ends the server and removes its database. Throws when strict mode saw the server break its contract. */
  close(): Promise<void>;
}

export interface TestRequest {
  /** Sent as JSON; text and bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The root token without it; null sends no credential. */
  token?: string | null;
  /** An API key in `X-API-Key`, instead of a token. */
  apiKey?: string;
  /** `X-Tenant-ID`. */
  tenant?: string;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON, else the text; undefined when empty. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
  readonly text: string;
}

export interface TestServerOptions {
  services: readonly ServedName[];
  /** As `NODE_ENV=production` says. */
  production?: boolean;
  /** Whether addresses that users give may be private ones; they may, without it. */
  allowPrivateTargets?: boolean;
  /** Settings of the services, by the names of the environment. */
  env?: Readonly<Record<string, string>>;
  /** Log lines, for tests that look at them. */
  log?: { write(line: string): void };
  trustedProxy?: readonly string[];
  /** Origins whose pages may call. */
  corsOrigins?: readonly string[];
  /** Where services run that this server needs and does not serve. */
  remotes?: Readonly<Record<string, { url: string; token: string }>>;
}

/** A server in this process on a free port, in strict contract mode, with a fresh database. */
export async function testServer(options: TestServerOptions): Promise<TestServer> {
  const rootToken = randomBytes(24).toString('base64url');
  let db = await testDatabase({ services: options.services });
  let running = await run(db, rootToken, options);
  return {
    get url() {
      return running.url;
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

/** The same for all servers of a test run, so that a server can be started again on its database, and tests can read what is sealed. */
export const masterKey = Buffer.alloc(32, 7);
export const testSealer = createSealer(masterKey);

async function run(
  db: TestDatabase,
  rootToken: string,
  {
    services,
    env = {},
    log,
    trustedProxy = [],
    corsOrigins = [],
    remotes = {},
    production = false,
    allowPrivateTargets = true,
  }: TestServerOptions,
) {
  const app = await createApp({
    db,
    modules: await loadServices(services),
    config: {
      rootToken,
      operatorTenant: 'default',
      trustedProxy,
      corsOrigins,
      anonymousRoot: false,
      strict: true,
      production,
      allowPrivateTargets,
      sealer: testSealer,
      remotes,
      settingsOf: ({ settings }) => readSettings(settings, env),
    },
    log: log ? pino({ level: 'info' }, log) : pino({ level: 'silent' }),
    prefixed: true,
  });
  const listening = await listen(app.handle, { host: '127.0.0.1', port: 0 });
  await app.start();
  return { url: `http://127.0.0.1:${listening.port}`, end: () => end(app, listening) };
}

async function end(app: App, listening: Listening): Promise<void> {
  app.end();
  await listening.close(5_000);
  await app.stop();
  if (app.breaches.length > 0)
    throw new Error(`the contract was broken: ${app.breaches.map(({ message }) => message).join('; ')}`);
}

/** Sends one request and reads the whole answer. */
export async function send(
  url: string,
  method: string,
  rootToken: string,
  { body, headers = {}, token = rootToken, apiKey, tenant }: TestRequest,
): Promise<TestResponse> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: {
      ...(apiKey !== undefined
        ? { 'x-api-key': apiKey }
        : token !== null
          ? { authorization: `Bearer ${token}` }
          : {}),
      ...(tenant === undefined ? {} : { 'x-tenant-id': tenant }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : json ? JSON.parse(text) : text,
  };
}
