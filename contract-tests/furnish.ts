/** Creates things of every kind in a tenant from the contract's examples, for tests of what others can see of them. */
import { expect } from 'vitest';
import type { Operation } from '../generated/operations.ts';
import { leaveTrail } from './audit/trail.ts';
import { leaveBills } from './billing/payers.ts';
import { nameOf } from './contract.ts';
import type { Credential, SignedUp, Tenant } from './harness.ts';
import { idPlaces, idsIn, kindOf, requestWith, type Pool } from './ids.ts';
import { leaveWork } from './jobs/work.ts';
import type { WireRequest } from './requests.ts';
import { leaveContent } from './storage/content.ts';
import { leaveRecords } from './sync/replicas.ts';
import { servedBy } from './targets.ts';
import { leaveHooks } from './webhooks/hooks.ts';

/** The things of a tenant, and the callers that belong to it. */
export interface Furnished {
  /** One thing of every kind, including the user and the app. */
  readonly pool: Pool;
  readonly root: Credential;
  /** Undefined when the server has no users. */
  readonly user: SignedUp | undefined;
}

const operations = servedBy('server');
const hasUsers = operations.some(({ service }) => service === 'auth');
const hasJobs = operations.some(({ service }) => service === 'jobs');
const hasBilling = operations.some(({ service }) => service === 'billing');
const hasAudit = operations.some(({ service }) => service === 'audit');
const hasStorage = operations.some(({ service }) => service === 'storage');
const hasSync = operations.some(({ service }) => service === 'sync');
const hasWebhooks = operations.some(({ service }) => service === 'webhooks');

/** Creates one thing of every kind. An operation that needs another thing first succeeds in a later round. */
export async function furnish(tenant: Tenant, appId?: string): Promise<Furnished> {
  const user = hasUsers ? await tenant.withUser(appId) : undefined;
  const pool = new Map<string, string>();
  const keep = (text: string, service: Operation['service']) => {
    for (const [id, prefix] of idsIn(text)) {
      const kind = kindOf(service, prefix);
      if (!pool.has(kind)) pool.set(kind, id);
    }
  };
  if (user) {
    pool.set('app', user.appId).set('user', user.id);
    for (const path of ['sessions', 'devices'])
      keep(await (await user.fetch(`/auth/v1/auth/${path}`)).text(), 'auth');
  }
  const root = user === undefined ? tenant : tenant.inApp(user.appId);
  const operator = user === undefined ? tenant : tenant.asOperatorOf(user.appId);
  if (hasJobs) keep((await leaveWork(root)).join(' '), 'jobs');
  if (hasAudit) for (const [kind, id] of Object.entries(await leaveTrail(root))) pool.set(kind, id);
  if (hasWebhooks) for (const [kind, id] of Object.entries(await leaveHooks(root))) pool.set(kind, id);
  if (hasStorage) for (const [kind, id] of Object.entries(await leaveContent(root))) pool.set(kind, id);
  if (hasSync) await leaveRecords(root);
  if (hasBilling) keep((await leaveBills(root, operator, tenant.id)).join(' '), 'billing');
  const makers = operations.filter(makes).sort((a, b) => idPlaces(a).length - idPlaces(b).length);
  const left = new Set([...makers, ...operations.filter(listsMessages)]);
  for (let round = 0; round < 3; round++) {
    for (const operation of left) {
      if (!pathKinds(operation).every((prefix) => pool.has(prefix))) continue;
      const maker = operation.access === 'operator' ? operator : root;
      const response = await send(maker, requestWith(operation, pool));
      const text = await response.text();
      if (!response.ok) continue;
      left.delete(operation);
      keep(text, operation.service);
    }
  }
  return { pool, root, user };
}

/** Whether an operation creates something in the caller's tenant and deletes nothing. */
const makes = ({ service, resource, access, method, verb, responses }: Operation): boolean =>
  access !== 'public' &&
  access !== 'user' &&
  verb === 'POST' &&
  // A test of an endpoint changes its health, a moment later.
  !(service === 'webhooks' && method === 'test') &&
  // A replay removes the dead letter.
  method !== 'replay' &&
  (responses.some(({ status }) => status === 201) ||
    method === 'rotate' ||
    method === 'test' ||
    isScan(resource));

/** A scan is a record, but its answer is the decision. */
const isScan = (resource: string): boolean => resource === 'Scans';

/** Whether an operation lists messages, which are created by the events that they report. */
const listsMessages = (operation: Operation): boolean => nameOf(operation) === 'auth.Outbox_list';

/** Returns the kinds of things that the path of an operation names. */
export const pathKinds = (operation: Operation): string[] =>
  idPlaces(operation)
    .filter((place) => place.in === 'path')
    .map(({ prefix }) => prefix);

/**
 * The catalogue of event types is the operator's, the audit log grows by what the services tell it a moment later, and what sync says of
 * itself has the time.
 */
const isOthers = ({ service, resource }: Operation): boolean =>
  resource === 'EventTypes' ||
  (service === 'audit' && (resource === 'Stats' || resource === 'Streams')) ||
  (service === 'sync' && resource === 'Info');

/** The server stores the time of the owner's last activity with a delay. */
const lastSeen = /"last_(seen|active)_at":"[^"]*"/g;

/** Returns everything that the owner reads of its things. */
export async function readAll({ pool, root, user }: Furnished): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const reads = operations.filter(
    (operation) =>
      operation.verb === 'GET' &&
      operation.method === 'get' &&
      operation.access !== 'public' &&
      // What only the operator reads belongs to the app.
      operation.access !== 'operator' &&
      !isOthers(operation),
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

/** Returns everything that a caller can see of an answer, with the requested id replaced. */
export async function said(response: Response, id: string) {
  const headers = Object.fromEntries(response.headers);
  delete headers['x-request-id'];
  delete headers['date'];
  return { status: response.status, headers, body: (await response.text()).replaceAll(id, '<id>') };
}
