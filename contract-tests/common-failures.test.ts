/**
 * The failures that all operations have in common, provoked at every operation that documents them according to the operations
 * table. The server under test has a separate database, which the tests disconnect and break.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Operation } from '../generated/operations.ts';
import { createCallers, type Callers } from './callers.ts';
import {
  atOnce,
  builtIn,
  documenting,
  documents,
  highestLimit,
  idsOf,
  isProtected,
  kept,
  markup,
  operations,
  remembered,
  resumed,
  takesCredentials,
  wrongId,
} from './common-failures.ts';
import { nameOf } from './contract.ts';
import { startDatabase, type OwnDatabase } from './database.ts';
import { connect, type Api, type Credential, type Tenant } from './harness.ts';
import { startServer, type Running } from './process.ts';
import { exampleRequest, type WireRequest } from './requests.ts';
import { targetOf } from './targets.ts';

describe.skipIf(!targetOf('server'))('every operation', () => {
  const breaches: string[] = [];
  let database: OwnDatabase;
  let server: Running;
  let api: Api;
  let operator: Tenant;
  let callers: Callers;

  beforeAll(async () => {
    database = await startDatabase();
    // Some public operations are limited by address. In production this is the default. Only two scans have a place at once.
    server = await startServer({
      databaseUrl: database.url,
      environment: {
        PLINTH_AUTH_RATE_LIMIT: 'on',
        PLINTH_AUTH_CLIENT_REGISTRATION: 'token',
        PLINTH_SAFETY_QUEUE: '2',
      },
    });
    api = connect({
      target: 'server',
      url: server.url,
      rootToken: server.rootToken,
      onBreach: (breach) => breaches.push(breach),
    });
    const outboxKey = /outbox\/page\?key=([\w-]+)/.exec(server.output())?.[1] ?? '';
    operator = api.operator();
    callers = await createCallers(operator, outboxKey);
  });
  afterAll(async () => {
    await server.stop();
    await database.stop();
  });
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));

  /** Sends a request with a time limit: a stream that starts when it should not would never end. */
  const send = (credential: Credential, { path, init }: WireRequest) =>
    credential.fetch(path, { ...init, redirect: 'manual', signal: AbortSignal.timeout(20_000) });

  async function answers(status: number, credential: Credential, request: WireRequest): Promise<void> {
    const response = await send(credential, request);
    expect(response.status, response.status === status ? '' : await response.clone().text()).toBe(status);
    await response.body?.cancel();
  }

  it.each(documenting(401, isProtected))('401 without credentials: %s', (_, operation) =>
    answers(401, operator.anonymous(), exampleRequest(operation)),
  );

  it.each(documenting(401, takesCredentials))('401 with a token that nobody issued: %s', (_, operation) => {
    const { path, init } = exampleRequest(operation);
    const headers = { ...init.headers, authorization: 'Bearer no-such-token' };
    return answers(401, operator.anonymous(), { path, init: { ...init, headers } });
  });

  it.each(documenting(403, isProtected))('403 without the scope: %s', (_, operation) =>
    answers(403, operation.access === 'key' ? operator : callers.keyWithoutScopes, exampleRequest(operation)),
  );

  it.each(documenting(400, ({ tolerant }) => !tolerant))(
    '400 with an unknown query parameter: %s',
    (_, operation) => {
      const { path, init } = exampleRequest(operation);
      return answers(400, callers.allowed(operation), {
        path: `${path}${path.includes('?') ? '&' : '?'}bogus=1`,
        init,
      });
    },
  );

  it.each(documenting(400).filter(([, operation]) => idsOf(operation).length > 0))(
    '400 with an id of another kind: %s',
    (_, operation) => {
      const parameters = Object.fromEntries(idsOf(operation).map((name) => [name, wrongId]));
      return answers(400, callers.allowed(operation), exampleRequest(operation, { parameters }));
    },
  );

  // Content of gigabytes is never sent; the tests of storage announce it.
  const bounded = documenting(413).filter(([, { body }]) => (body?.limit ?? 0) < 2 ** 28);
  it.each(bounded)('413 with a body over the limit: %s', (_, operation) => {
    const { path, init } = exampleRequest(operation, { body: {} });
    return answers(413, callers.allowed(operation), {
      path,
      init: { ...init, body: JSON.stringify({ name: 'x'.repeat(operation.body?.limit ?? 0) }) },
    });
  });

  // An operation that accepts any content type refuses none.
  const choosy = documenting(415).filter(([, { body }]) => !body?.contentTypes.includes('*/*'));
  it.each(choosy)('415 with another content type: %s', (_, operation) => {
    const { path, init } = exampleRequest(operation);
    const headers = { ...init.headers, 'content-type': 'text/plain' };
    return answers(415, callers.allowed(operation), { path, init: { ...init, headers, body: 'name=x' } });
  });

  describe('called with a key whose rate is used up', () => {
    let usedUp: Credential;
    beforeAll(async () => {
      const { id } = await operator.plinth.keys.policies.create({
        body: { name: 'One request a month', rate_limit: 1, rate_window: '720h' },
      });
      usedUp = await operator.withKey(['*'], id);
      await usedUp.plinth.keys.keys.whoami();
    });

    it.each(documenting(429, takesCredentials))('429 with Retry-After: %s', async (_, operation) => {
      const response = await send(usedUp, exampleRequest(operation));
      expect(response.status, await response.clone().text()).toBe(429);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      await response.body?.cancel();
    });
  });

  describe('with its tables gone', () => {
    const schemas = [...new Set(operations.map(({ service }) => service))];
    beforeAll(async () => {
      for (const name of schemas) await database.run(`alter schema ${name} rename to ${name}_gone`);
    });
    afterAll(async () => {
      for (const name of schemas) await database.run(`alter schema ${name}_gone rename to ${name}`);
    });

    it.each(documenting(500).filter(([name]) => !remembered.test(name) && !builtIn.test(name)))(
      '500: %s',
      (_, operation) => fails(...callers.reading(operation)),
    );

    // The server cannot read either whether its cached data has changed, and so trusts that data only briefly.
    it.each(documenting(500).filter(([name]) => remembered.test(name)))(
      '500 once nothing remembered counts: %s',
      (_, operation) =>
        vi.waitFor(() => fails(...callers.reading(operation)), { timeout: 10_000, interval: 100 }),
    );
  });

  /** Checks that a call fails with a 500 whose text reveals no internals. */
  async function fails(credential: Credential, request: WireRequest): Promise<void> {
    const response = await send(credential, request);
    const text = await response.text();
    expect(response.status, text).toBe(500);
    expect(text.replaceAll(markup, '')).not.toMatch(/relation|schema|select|undefined|null|\bat \//i);
  }

  describe('asked for more at once than it has places for', () => {
    // Where the store's failure is a 500, a 503 says that too much waits.
    it.each(documenting(503, ({ storeFailure }) => storeFailure === 500))(
      '503 with Retry-After: %s',
      async (_, operation) => {
        const refused = await sentUntil(503, operation, callers.allowed(operation));
        expect(refused.headers.get('retry-after')).toBe('1');
      },
    );
  });

  describe('with its database away', () => {
    beforeAll(() => database.cut());
    afterAll(() => database.heal());

    it.each(documenting(503, ({ storeFailure }) => storeFailure !== 500))(
      '503 with Retry-After: %s',
      async (_, operation) => {
        const response = await send(
          callers.allowed(operation),
          exampleRequest(operation, resumed(operation)),
        );
        expect(response.status, await response.clone().text()).toBe(503);
        expect(response.headers.get('retry-after')).toBe('1');
      },
    );

    it.each(
      documenting(500, (operation) => !documents(operation, 503) || operation.storeFailure === 500).filter(
        ([name]) => !kept.test(name) && !builtIn.test(name),
      ),
    )(
      '500 where 503 is not documented: %s',
      // Cached data stays valid for another moment, and usage outlives an absence of ten seconds.
      (_, operation) =>
        vi.waitFor(() => fails(...callers.reading(operation)), { timeout: 20_000, interval: 100 }),
    );

    // The answer itself needs no database, but who asks has to be looked up.
    it.each(documenting(500).filter(([name]) => builtIn.test(name)))(
      '500 for a caller who is not known yet: %s',
      (_, operation) => fails(callers.unusedKey, exampleRequest(operation)),
    );
  });

  // Runs last: operations share the limits, and these are not lifted within a minute.
  describe('called by an address that calls too often', () => {
    it.each(documenting(429, (operation) => !takesCredentials(operation)))(
      '429 with Retry-After: %s',
      async (_, operation) => {
        const refused = await sentUntil(429, operation, operator.anonymous());
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      },
    );
  });

  /** Returns the first answer with this status to a request that is sent repeatedly. */
  async function sentUntil(status: number, operation: Operation, credential: Credential): Promise<Response> {
    const request = exampleRequest(operation);
    for (let sent = 0; sent < highestLimit; sent += atOnce) {
      const tries = Array.from({ length: atOnce }, () => send(credential, request));
      const answers = await Promise.all(tries);
      await Promise.all(answers.map(async (response) => response.body?.cancel()));
      const found = answers.find((response) => response.status === status);
      if (found) return found;
    }
    throw new Error(`${nameOf(operation)} was never answered ${status}`);
  }
});
