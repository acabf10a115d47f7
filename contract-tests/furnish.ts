/** Things of every kind in a tenant, made by the examples of the contract, for tests that try what others may see of them. */
import { expect } from 'vitest';
import type { Operation } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import type { Credential, SignedUp, Tenant } from './harness.ts';
import { idPlaces, idsIn, requestWith, type Pool } from './ids.ts';
import type { WireRequest } from './requests.ts';
import { servedBy } from './targets.ts';

/** What a tenant has, and who is at home there. */
export interface Furnished {
  /** One thing of every kind, the user and the app among them. */
  readonly pool: Pool;
  readonly root: Credential;
  /** Missing where the server has no users. */
  readonly user: SignedUp | undefined;
}

const operations = servedBy('server');
const hasUsers = operations.some(({ service }) => service === 'auth');

/** Makes one thing of every kind. What needs another thing first succeeds in a later round. */
export async function furnish(tenant: Tenant, appId?: string): Promise<Furnished> {
  const user = hasUsers ? await tenant.withUser(appId) : undefined;
  const pool = new Map<string, string>();
  const keep = (text: string) => {
    for (const [id, prefix] of idsIn(text)) if (!pool.has(prefix)) pool.set(prefix, id);
  };
  if (user) {
    pool.set('app', user.appId).set('user', user.id);
    for (const path of ['sessions', 'devices'])
      keep(await (await user.fetch(`/auth/v1/auth/${path}`)).text());
  }
  const root = user === undefined ? tenant : tenant.inApp(user.appId);
  const makers = operations.filter(makes).sort((a, b) => idPlaces(a).length - idPlaces(b).length);
  const left = new Set([...makers, ...operations.filter(listsMessages)]);
  for (let round = 0; round < 3; round++) {
    for (const operation of left) {
      if (!pathKinds(operation).every((prefix) => pool.has(prefix))) continue;
      const response = await send(root, requestWith(operation, pool));
      const text = await response.text();
      if (!response.ok) continue;
      left.delete(operation);
      keep(text);
    }
  }
  return { pool, root, user };
}

/** Whether an operation brings something into being in the tenant of the caller, and ends nothing. */
const makes = ({ access, method, verb, responses }: Operation): boolean =>
  access !== 'public' &&
  access !== 'user' &&
  verb === 'POST' &&
  (responses.some(({ status }) => status === 201) || method === 'rotate' || method === 'test');

/** Messages are made by what they tell of. */
const listsMessages = (operation: Operation): boolean => nameOf(operation) === 'auth.Outbox_list';

/** The kinds of things that the path of an operation names. */
export const pathKinds = (operation: Operation): string[] =>
  idPlaces(operation)
    .filter((place) => place.in === 'path')
    .map(({ prefix }) => prefix);

/** When its owner was last there is written down some time after. */
const lastSeen = /"last_(seen|active)_at":"[^"]*"/g;

/** What the owner reads of all its things. */
export async function readAll({ pool, root, user }: Furnished): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const reads = operations.filter(
    ({ verb, method, access }) => verb === 'GET' && method === 'get' && access !== 'public',
  );
  for (const operation of reads) {
    if (!pathKinds(operation).every((prefix) => pool.has(prefix))) continue;
    const reader = operation.access === 'user' ? user! : root;
    const response = await send(reader, requestWith(operation, pool));
    expect(response.status, nameOf(operation)).toBe(200);
    seen.set(nameOf(operation), (await response.text()).replaceAll(lastSeen, ''));
  }
  return seen;
}

export const send = (credential: Credential, { path, init }: WireRequest): Promise<Response> =>
  credential.fetch(path, init);

/** All that a caller can see of an answer, with the id that was asked for made the same. */
export async function said(response: Response, id: string) {
  const headers = Object.fromEntries(response.headers);
  delete headers['x-request-id'];
  delete headers['date'];
  return { status: response.status, headers, body: (await response.text()).replaceAll(id, '<id>') };
}
