import { isDeepStrictEqual } from 'node:util';
import type {
  Endpoint,
  EndpointCreate,
  EndpointUpdate,
  IssuedEndpoint,
} from '../../../../generated/webhooks/types.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { newWebhookSecret } from '../../../lib/standard-webhooks.ts';
import type { Deps } from '../deps.ts';
import { TooManyEndpoints } from '../errors.ts';
import { type SealedFor, type Sealing, Unreadable } from '../sealing.ts';
import type { Write } from '../writes.ts';
import { type EndpointTerms, type JudgeUrl, storedTerms } from './endpoint-terms.ts';
import { type EndpointChange, endpointStore, type LockedEndpoint, type Reach } from './endpoints.store.ts';
import { storedHeaders } from './headers.ts';
import { secretStore } from './secrets.store.ts';
import { checkSecret } from './secrets.ts';

/** An endpoint as a request names it. */
export interface Named {
  readonly context: Context;
  readonly reach: Reach;
  readonly ref: string;
}

export async function createEndpoint(
  { write, sealing, settings }: Deps,
  judge: JudgeUrl,
  context: Context,
  { tenant_id = context.tenant, secret = newWebhookSecret(), enabled, ...body }: EndpointCreate,
): Promise<IssuedEndpoint> {
  checkSecret(secret);
  const owner = { tenant_id, id: newId('ep') };
  const terms = storedTerms(body, judge);
  const kept = keptHeaders(sealing, owner, body.headers, () => ({}));
  return await write(context, async ({ sql, emit }) => {
    const { app } = context;
    const store = endpointStore(sql);
    if (!(await store.reserve(tenant_id, settings.maxEndpoints)))
      throw TooManyEndpoints(settings.maxEndpoints);
    const disabled_reason = enabled ? null : 'manual';
    await store.insert({
      ...terms,
      ...kept,
      ...owner,
      app_id: app,
      enabled,
      disabled_reason,
    } as LockedEndpoint);
    if (enabled) await store.subscribe(owner, app, terms.event_types);
    await secretStore(sql).insert(owner, newId('sec'), sealing.sealSecret(owner, secret));
    const endpoint = await store.get({ view: { app, tenant: tenant_id }, tenant: tenant_id }, owner.id);
    emit('webhooks.endpoint.created', endpoint, told(endpoint));
    return { ...endpoint, secret };
  });
}

/** Changes the members that differ. */
export async function updateEndpoint(
  { write, sealing, dispatcher }: Deps,
  judge: JudgeUrl,
  { context, reach, ref }: Named,
  { headers, enabled, ...body }: EndpointUpdate,
): Promise<Endpoint> {
  const given = storedTerms(body, judge);
  const endpoint = await write(context, async (endpointWrite) => {
    const { sql, emit } = endpointWrite;
    const store = endpointStore(sql);
    const before = await store.lock(reach, ref);
    const secret = () => openedHeaders(sealing, before);
    const change = differing(before, {
      ...given,
      ...(headers && keptHeaders(sealing, before, headers, secret)),
    });
    const isChanged = Object.keys(change).length > 0;
    if (isChanged) await store.update(before, change);
    const isEnabled = enabled ?? before.enabled;
    if (isEnabled && change.event_types) await store.subscribe(before, before.app_id, change.event_types);
    if (isEnabled !== before.enabled) await setEnabled(endpointWrite, { ...before, ...change }, isEnabled);
    const after = await store.get(reach, before.id);
    if (isChanged) emit('webhooks.endpoint.updated', after, told(after));
    return after;
  });
  dispatcher.hint([endpoint.id]);
  return endpoint;
}

/** Enables or disables an endpoint; one that already is does not change. */
export async function switchEndpoint(
  { write, dispatcher }: Deps,
  { context, reach, ref }: Named,
  enabled: boolean,
): Promise<Endpoint> {
  const endpoint = await write(context, async (endpointWrite) => {
    const before = await endpointStore(endpointWrite.sql).lock(reach, ref);
    if (before.enabled !== enabled) await setEnabled(endpointWrite, before, enabled);
    return await endpointStore(endpointWrite.sql).get(reach, before.id);
  });
  if (enabled) dispatcher.hint([endpoint.id]);
  return endpoint;
}

async function setEnabled({ sql, emit }: Write, endpoint: LockedEndpoint, enabled: boolean): Promise<void> {
  const store = endpointStore(sql);
  await (enabled ? store.enable(endpoint) : store.disable(endpoint));
  await store.subscribe(endpoint, endpoint.app_id, enabled ? endpoint.event_types : []);
  const { tenant_id: tenant, app_id: app, id } = endpoint;
  const after = await store.get({ view: { app, tenant }, tenant }, id);
  emit(enabled ? 'webhooks.endpoint.enabled' : 'webhooks.endpoint.disabled', after, told(after));
}

export async function deleteEndpoint({ write }: Deps, { context, reach, ref }: Named): Promise<void> {
  await write(context, async ({ sql, emit }) => {
    const store = endpointStore(sql);
    const { id, app_id } = await store.lock(reach, ref);
    const endpoint = await store.get(reach, id);
    await store.subscribe(endpoint, app_id, []);
    await store.delete(endpoint);
    emit('webhooks.endpoint.deleted', endpoint, told(endpoint));
  });
}

/** What events say of an endpoint: headers may be secrets of the receiver. */
export const told = ({ headers: _, health: __, ...endpoint }: Endpoint) => endpoint;

function keptHeaders(
  sealing: Sealing,
  owner: SealedFor,
  given: Readonly<Record<string, string>>,
  kept: () => Readonly<Record<string, string>>,
) {
  const { shown, secret } = storedHeaders(given, kept);
  const isSecret = Object.keys(secret).length > 0;
  return { headers: shown, sealed_headers: isSecret ? sealing.sealHeaders(owner, secret) : null };
}

function openedHeaders(sealing: Sealing, endpoint: LockedEndpoint): Record<string, string> {
  if (endpoint.sealed_headers === null) return {};
  try {
    return sealing.openHeaders(endpoint, endpoint.sealed_headers);
  } catch (error) {
    if (error instanceof Unreadable)
      throw Invalid('headers: the stored values cannot be read, send them again');
    throw error;
  }
}

/** Sealed values always differ, so they count as changed whenever they are sent. */
const differing = (before: LockedEndpoint, given: EndpointChange): EndpointChange =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) =>
        value !== undefined &&
        !isDeepStrictEqual(value, before[name as keyof (EndpointTerms & EndpointChange)]),
    ),
  );
