/**
 * The failures that all operations have in common, provoked at every operation that documents them according to the operations
 * table. The server under test has a separate database, which the tests disconnect and break.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Operation } from '../generated/operations.ts';
import { openBrowser } from './auth/browser.ts';
import { consented } from './auth/consented.ts';
import { shownPages } from './auth/shown.ts';
import { nameOf, parametersOf, resolve } from './contract.ts';
import { startDatabase, type OwnDatabase } from './database.ts';
import { connect, type Api, type Credential, type Tenant } from './harness.ts';
import { startServer, type Running } from './process.ts';
import { exampleRequest, type WireRequest } from './requests.ts';
import { servedBy, targetOf } from './targets.ts';

const operations = servedBy('server');
/** Returns every operation that documents the status, by name. */
const documenting = (status: number, where: (operation: Operation) => boolean = () => true) =>
  operations
    .filter((operation) => documents(operation, status) && where(operation))
    .map((operation) => [nameOf(operation), operation] as const);

const documents = ({ responses }: Operation, status: number): boolean =>
  responses.some((response) => response.status === status);

/** Whether an operation requires credentials. Public operations check the proof in the body in their own ways. */
const isProtected = ({ access }: Operation): boolean => access !== 'public';
/** Whether credentials matter to an operation, even if only for its limits. */
const takesCredentials = (operation: Operation): boolean =>
  isProtected(operation) || operation.optionalCredentials === true;

describe.skipIf(!targetOf('server'))('every operation', () => {
  const breaches: string[] = [];
  let database: OwnDatabase;
  let server: Running;
  let api: Api;
  let operator: Tenant;
  let keyWithoutScopes: Credential;
  let keyWithAllScopes: Credential;
  let unusedKey: Credential;
  let user: Credential;
  let impersonator: Credential;
  let client: Credential;
  let accessToken: string;
  let registrationToken: string;
  let deviceCookie: string;
  let outboxKey: string;
  let ofPage: (operation: Operation) => WireRequest;

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
    outboxKey = /outbox\/page\?key=([\w-]+)/.exec(server.output())?.[1] ?? '';
    operator = api.operator();
    keyWithoutScopes = await operator.withKey([]);
    keyWithAllScopes = await operator.withKey(['*']);
    unusedKey = await operator.withKey(['*']);
    const signedUp = await operator.withUser();
    user = signedUp;
    const { session_token } = await operator.plinth.auth.admin.impersonate({
      body: { target_user_id: signedUp.id },
    });
    impersonator = operator.withSession(session_token);
    client = await operator.withClient();
    ofPage = await shownPages(operator, signedUp);
    ({ accessToken } = await consented(operator, signedUp));
    ({ registration_access_token: registrationToken } =
      await operator.plinth.auth.clientRegistration.register({
        body: { redirect_uris: ['https://notebook.example.com/callback'] },
      }));
    const browser = openBrowser(operator.anonymous());
    await browser.open('/oauth2/device');
    deviceCookie = browser.cookieFor('/auth/v1/auth/oauth2/device');
    // Invalidates the cached data of the user.
    await operator.plinth.auth.users.update({ userId: signedUp.id, body: { name: 'Ada' } });
  });
  afterAll(async () => {
    await server.stop();
    await database.stop();
  });
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));

  /** Returns a credential that an operation admits: most accept root, `whoami` only a key, and a user's own resources only that user. */
  const allowed = (operation: Operation): Credential => {
    if (nameOf(operation) === 'auth.Admin_stopImpersonating') return impersonator;
    if (nameOf(operation) === 'auth.OAuth_introspect') return client;
    if (operation.access === 'user') return user;
    return operation.access === 'key' ? keyWithAllScopes : operator;
  };

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
    answers(403, operation.access === 'key' ? operator : keyWithoutScopes, exampleRequest(operation)),
  );

  it.each(documenting(400, ({ tolerant }) => !tolerant))(
    '400 with an unknown query parameter: %s',
    (_, operation) => {
      const { path, init } = exampleRequest(operation);
      return answers(400, allowed(operation), {
        path: `${path}${path.includes('?') ? '&' : '?'}bogus=1`,
        init,
      });
    },
  );

  it.each(documenting(400).filter(([, operation]) => idsOf(operation).length > 0))(
    '400 with an id of another kind: %s',
    (_, operation) => {
      const parameters = Object.fromEntries(idsOf(operation).map((name) => [name, wrongId]));
      return answers(400, allowed(operation), exampleRequest(operation, { parameters }));
    },
  );

  it.each(documenting(413))('413 with a body over the limit: %s', (_, operation) => {
    const { path, init } = exampleRequest(operation, { body: {} });
    return answers(413, allowed(operation), {
      path,
      init: { ...init, body: JSON.stringify({ name: 'x'.repeat(operation.body?.limit ?? 0) }) },
    });
  });

  // An operation that accepts any content type refuses none.
  const choosy = documenting(415).filter(([, { body }]) => !body?.contentTypes.includes('*/*'));
  it.each(choosy)('415 with another content type: %s', (_, operation) => {
    const { path, init } = exampleRequest(operation);
    const headers = { ...init.headers, 'content-type': 'text/plain' };
    return answers(415, allowed(operation), { path, init: { ...init, headers, body: 'name=x' } });
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
      (_, operation) => fails(...reading(operation)),
    );

    // The server cannot read either whether its cached data has changed, and so trusts that data only briefly.
    it.each(documenting(500).filter(([name]) => remembered.test(name)))(
      '500 once nothing remembered counts: %s',
      (_, operation) => vi.waitFor(() => fails(...reading(operation)), { timeout: 10_000, interval: 100 }),
    );
  });

  /** Returns a request that needs the tables: no token or form that is refused without reading them. */
  function reading(operation: Operation): [Credential, WireRequest] {
    const { resource, method } = operation;
    if (resource === 'Pages') return [operator.anonymous(), ofPage(operation)];
    if (resource === 'DeviceGrant' && method === 'resume') {
      const { path, init } = exampleRequest(operation);
      return [
        operator.anonymous(),
        { path, init: { ...init, headers: { ...init.headers, cookie: deviceCookie } } },
      ];
    }
    if (resource === 'Outbox' && method === 'page')
      return [operator.anonymous(), exampleRequest(operation, { parameters: { key: outboxKey } })];
    if (resource === 'ClientRegistration' && method !== 'register')
      return [operator.withSession(registrationToken), exampleRequest(operation)];
    if (resource !== 'OAuth' || !/userinfo$/i.test(method))
      return [allowed(operation), exampleRequest(operation, resumed)];
    if (operation.body)
      return [operator.anonymous(), exampleRequest(operation, { body: { access_token: accessToken } })];
    return [operator.withSession(accessToken), exampleRequest(operation)];
  }

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
        const refused = await sentUntil(503, operation, allowed(operation));
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
        const response = await send(allowed(operation), exampleRequest(operation, resumed));
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
      // Cached data stays valid for another moment.
      (_, operation) => vi.waitFor(() => fails(...reading(operation)), { timeout: 10_000, interval: 100 }),
    );

    // The answer itself needs no database, but who asks has to be looked up.
    it.each(documenting(500).filter(([name]) => builtIn.test(name)))(
      '500 for a caller who is not known yet: %s',
      (_, operation) => fails(unusedKey, exampleRequest(operation)),
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

const markup = /<style[^>]*>.*?<\/style>|<[^>]*>/gs;

/** More requests than any limit allows. */
const highestLimit = 1_300;
const atOnce = 20;

/** Data read a moment ago is answered from memory while the database reports no change. */
const remembered = /^auth\.(Discovery|OAuth)_/;

/** Answers that are given for as long as the database is unreachable. */
const kept = /^auth\.Discovery_jwks$/;

/** Answers that are part of the release and read no tables. */
const builtIn = /^safety\.Detectors_list$/;

/** A stream reads its tables only when it resumes from an event. */
const resumed = { parameters: { 'Last-Event-ID': '1' } };

/** Returns the path parameters that are ids, recognised by the common form of ids. */
const idsOf = (operation: Operation): string[] =>
  parametersOf(operation)
    .filter(({ in: place, schema }) => {
      const pattern = String(resolve(operation.service, schema)['pattern']);
      // Where a tenant's own name may stand in place of an id, an id of another kind is such a name.
      return place === 'path' && pattern.includes('_[0-7][') && !new RegExp(pattern, 'u').test(wrongId);
    })
    .map(({ name }) => name);

const wrongId = 'wrong_01m7w4n5e0f7drekxj50y51wjg';
