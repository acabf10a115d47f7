/**
 * The vocabulary of the contract tests:
 *
 *     contract('Roles', (api) => …)     the cases hold on the mock and on the server: what the documents promise
 *     behaviour('Roles', (api) => …)    the cases hold on the server only: what has to be remembered or computed
 *     api.tenant()                      a fresh tenant and its client, as root; api.operator() is root in no tenant's name
 *     tenant.refused(404, 'role not found', (plinth) => plinth.authz.roles.get({ roleId }))
 *     tenant.fetch('/authz/v1/roles', { … })       for requests that the SDK refuses to send
 *     tenant.withKey(['authz:read'])               the same tenant with an API key of these scopes
 *     tenant.withUser()                            a user who has just signed up there
 *
 * Every answer is checked against the OpenAPI document, whatever a case looks at, and counts for the coverage of the contract.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { createPlinth, PlinthError, type Plinth } from '../sdk/src/index.ts';
import { targetOf, type Target } from './targets.ts';
import { recordingFetch } from './wire.ts';

export interface Api {
  readonly target: Target;
  tenant(): Tenant;
  /** Root without a tenant: it acts in the operator's tenant, and across all tenants where the contract says so. */
  operator(): Tenant;
}

/** One tenant of the target, and one credential in it. */
export interface Tenant extends Credential {
  readonly id: string;
  /** The same tenant with an API key that holds only these scopes, under a policy if one is given. */
  withKey(scopes: string[], policyId?: string): Promise<Credential>;
  /** Root on behalf of one of its users. */
  asUser(userId: string): Credential;
  /** Root in one of its apps. */
  inApp(appId: string): Credential;
  /** Root in this app and in no tenant's name: the operator, who makes what all tenants of the app share. */
  asOperatorOf(appId: string): Credential;
  /** The session of one of its users, by token. */
  withSession(token: string): Credential;
  /** An OAuth client of its default app that acts for itself. */
  withClient(): Promise<Credential>;
  /** A user who has just signed up: in this app, or in the default app, which is created if necessary. */
  withUser(appId?: string): Promise<SignedUp>;
  /** The same tenant without any credentials. */
  anonymous(): Credential;
}

export interface Credential {
  readonly plinth: Plinth;
  /** Sends the request unchanged to a path of the all-in-one server. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Expects the call to fail with this status and, on the server, with this message. Returns the error's body. */
  refused(
    status: number,
    message: string | RegExp,
    call: (plinth: Plinth) => Promise<unknown>,
  ): Promise<unknown>;
}

/** A user of a tenant, with the session that the sign-up began. */
export interface SignedUp extends Credential {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly appId: string;
  readonly sessionToken: string;
  readonly refreshToken: string;
}

/** Runs the cases against every target of this run that has the service in whose folder they are. */
export function contract(name: string, cases: (api: Api) => void): void {
  const targets = inject('contract')
    .targets.map((target) => target.name)
    .filter(serves);
  for (const target of targets) suite(name, target, cases);
  if (targets.length === 0) it.skip(`${name}: no target of this run has the service`);
}

/** Whether a target has the service of the test's folder. Tests outside such folders concern all services. */
function serves(name: Target): boolean {
  const target = targetOf(name);
  const [, service] = /contract-tests\/([a-z]+)\//.exec(expect.getState().testPath ?? '') ?? [];
  return target !== undefined && (service === undefined || target.services.some((one) => one === service));
}

/** Runs the cases against the real server. */
export function behaviour(name: string, cases: (api: Api) => void): void {
  if (serves('server')) suite(name, 'server', cases);
  else it.skip(`${name} (server): not a target of this run`);
}

function suite(name: string, target: Target, cases: (api: Api) => void): void {
  describe(`${name} (${target})`, () => {
    const breaches: string[] = [];
    afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));
    const { url, rootToken } = targetOf(target)!;
    cases(connect({ target, url, rootToken, onBreach: (breach) => breaches.push(breach) }));
  });
}

/** How a test reaches a target, for suites that start their own. */
export interface Connection {
  readonly target: Target;
  readonly url: string;
  readonly rootToken: string;
  readonly onBreach: (breach: string) => void;
}

export function connect(connection: Connection): Api {
  return {
    target: connection.target,
    tenant() {
      const id = `t-${randomBytes(8).toString('hex')}`;
      return rootOf(connection, id, { 'x-tenant-id': id });
    },
    operator: () => rootOf(connection, 'default', {}),
  };
}

function rootOf(connection: Connection, id: string, headers: Readonly<Record<string, string>>): Tenant {
  const root = { authorization: `Bearer ${connection.rootToken}`, ...headers };
  const own = credential(connection, root);
  return {
    id,
    ...own,
    asUser: (userId) => credential(connection, { ...root, 'x-user-id': userId }),
    inApp: (appId) => credential(connection, { ...root, 'x-app-id': appId }),
    asOperatorOf: (appId) => credential(connection, { authorization: root.authorization, 'x-app-id': appId }),
    withSession: (token) => credential(connection, { authorization: `Bearer ${token}` }),
    anonymous: () => credential(connection, {}),
    async withClient() {
      const { id, client_secret } = await own.plinth.auth.clients.create({
        body: { name: 'contract test', grant_types: ['client_credentials'] },
      });
      return credential(connection, { authorization: `Basic ${btoa(`${id}:${client_secret}`)}` });
    },
    withUser: async (appId) => signedUp(connection, appId ?? (await defaultApp(own.plinth))),
    async withKey(scopes, policyId) {
      const { raw_key } = await own.plinth.keys.keys.create({
        body: { name: 'contract test', scopes, policy_id: policyId ?? null },
      });
      return credential(connection, { 'x-api-key': raw_key });
    },
  };
}

function credential(connection: Connection, headers: Readonly<Record<string, string>>): Credential {
  const { target, url, onBreach } = connection;
  const fetchWith = (more: Readonly<Record<string, string>>) =>
    recordingFetch({ target, onBreach, headers: { ...headers, ...more } });
  const client = (more: Readonly<Record<string, string>>) =>
    createPlinth({ baseUrl: url, fetch: fetchWith(more), retries: 0 });
  const own = fetchWith({});
  return {
    plinth: client({}),
    fetch: (path, init) => own(`${url}${path}`, init),
    async refused(status, message, call) {
      // The mock stores nothing that could be missing or taken, so the test requests the status.
      const error = await failureOf(call(client(target === 'mock' ? { prefer: `code=${status}` } : {})));
      expect(error.status, JSON.stringify(error.body)).toBe(status);
      if (target === 'server') expect(error.message).toEqual(said(message));
      return error.body;
    },
  };
}

/** Returns the default app of a tenant, and creates it if necessary. */
async function defaultApp({ auth }: Plinth): Promise<string> {
  for await (const { id, is_default } of auth.apps.list()) if (is_default) return id;
  const { id } = await auth.apps.create({ body: { name: 'Default app', slug: 'default' } });
  return id;
}

async function signedUp(connection: Connection, appId: string): Promise<SignedUp> {
  const email = `user-${randomBytes(6).toString('hex')}@example.com`;
  const password = 'correct horse battery staple';
  const answer = await credential(connection, {}).plinth.auth.accounts.signup({
    body: { email, password, app_id: appId },
  });
  const { session_token: sessionToken, refresh_token: refreshToken } = answer;
  const { id } = answer.user;
  const own = credential(connection, { authorization: `Bearer ${sessionToken}` });
  return { ...own, id, email, password, appId, sessionToken, refreshToken };
}

const said = (message: string | RegExp): unknown =>
  typeof message === 'string' ? message : expect.stringMatching(message);

async function failureOf(call: Promise<unknown>): Promise<PlinthError> {
  const error: unknown = await call.then(
    (answer) => new Error(`was not refused, but answered ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof PlinthError) return error;
  throw error;
}
