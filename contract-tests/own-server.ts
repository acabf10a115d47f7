/** A server with a database of its own, for tests that prepare its data or need other settings. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { startDatabase, type OwnDatabase } from './database.ts';
import { connect, type Api } from './harness.ts';
import { startServer, type Running } from './process.ts';

export interface OwnServer {
  /** Callers of the server; known once the tests run. */
  readonly api: Api;
  readonly server: Running;
  readonly database: OwnDatabase;
}

/** Starts one for the tests of the `describe` around the call. Each of its answers must keep to the contract. */
export function ownServer(environment: Readonly<Record<string, string>> = {}): OwnServer {
  const breaches: string[] = [];
  const own = {} as { -readonly [Name in keyof OwnServer]: OwnServer[Name] };
  beforeAll(async () => {
    own.database = await startDatabase();
    own.server = await startServer({ databaseUrl: own.database.url, environment });
    const { url, rootToken } = own.server;
    own.api = connect({ target: 'server', url, rootToken, onBreach: (breach) => breaches.push(breach) });
  });
  afterAll(async () => {
    await own.server.stop();
    await own.database.stop();
  });
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));
  return own;
}
