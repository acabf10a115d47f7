import type { Key, KeyUpdate } from '../../../generated/keys/types.ts';
import { isDeepStrictEqual } from 'node:util';
import { Invalid } from '../../lib/errors.ts';
import { checkShownText } from '../../lib/shown-text.ts';
import { checkFuture, isLater, isSameEnd } from './expiry.ts';
import { type KeyEvent, nextState } from './key-states.ts';
import { type KeyChange, keyStore, type LockedKey } from './keys.store.ts';
import { checkMetadata } from './metadata.ts';
import { policyStore } from './policies.store.ts';
import { checkMayGive, checkNotItself } from './rights.ts';
import { checkAllowed, sortedNames } from './scope-names.ts';
import { secretStore } from './secrets.store.ts';
import type { Write } from './writes.ts';

/** Changes the members that differ. A new expiry returns an expired key to its earlier state. */
export async function changeKey(write: Write, keyId: string, body: KeyUpdate): Promise<Key> {
  const { sql, context } = write;
  const { tenant } = context;
  const keys = keyStore(sql);
  const key = await keys.lock(tenant, keyId);
  nextState(key, 'change');
  const change = differing(key, body);
  const fields = Object.keys(change);
  if (fields.length === 0) return await keys.get(tenant, keyId);

  checkShownText('name', change.name);
  if (change.metadata !== undefined) checkMetadata(change.metadata);
  if (change.policy_id !== undefined) await checkPolicy(write, key, change.policy_id);
  if (change.expires_at !== undefined) await extend(write, key, change.expires_at);
  await keys.update(tenant, keyId, change);
  write.changed('key', keyId);
  write.emit('keys.key.updated', keyId, { fields });
  return await keys.get(tenant, keyId);
}

/**
 * Returns the given members whose values differ. A body read from the service can be written back, so unchanged values of
 * members that are fixed or changed elsewhere are accepted.
 */
function differing(key: LockedKey, body: KeyUpdate): KeyChange {
  const {
    prefix = key.prefix,
    environment = key.environment,
    scopes = key.scopes,
    expires_at,
    ...others
  } = body;
  if (prefix !== key.prefix) throw Invalid('prefix: cannot be changed');
  if (environment !== key.environment) throw Invalid('environment: cannot be changed');
  if (!isDeepStrictEqual(sortedNames(scopes), key.scopes)) throw Invalid('scopes: assign and remove them');
  const changed = Object.entries(others).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, key[name as keyof typeof others]),
  );
  const end = expires_at === undefined || isSameEnd(expires_at, key.expires_at) ? {} : { expires_at };
  return { ...Object.fromEntries(changed), ...end };
}

async function checkPolicy({ sql, context }: Write, key: LockedKey, policyId: string | null): Promise<void> {
  checkNotItself(context, key.id);
  if (policyId === null) return;
  const policy = await policyStore(sql).hold(context.tenant, policyId);
  checkAllowed(policy.allowed_scopes, key.scopes);
}

async function extend({ sql, context, clock }: Write, key: LockedKey, end: string | null): Promise<void> {
  if (end !== null) checkFuture(end, clock.now());
  if (isLater(end, key.expires_at)) {
    checkNotItself(context, key.id);
    checkMayGive(context, key.scopes, key.app_id);
  }
  const to = nextState(key, 'extend');
  if (to !== key.state && to !== 'revoked') await keyStore(sql).setState(context.tenant, key.id, to);
}

/** Suspends a key until it is reactivated. */
export const suspendKey = (write: Write, keyId: string): Promise<Key> =>
  transition(write, keyId, { event: 'suspend', emits: 'keys.key.suspended' });

/** Reactivates a suspended key, which takes the same rights as granting its scopes. */
export const reactivateKey = (write: Write, keyId: string): Promise<Key> =>
  transition(write, keyId, { event: 'reactivate', emits: 'keys.key.reactivated' }, (key) => {
    checkNotItself(write.context, keyId);
    checkMayGive(write.context, key.scopes, key.app_id);
  });

async function transition(
  write: Write,
  keyId: string,
  { event, emits }: { event: KeyEvent; emits: `keys.${string}` },
  check: (key: LockedKey) => void = () => {},
): Promise<Key> {
  const keys = keyStore(write.sql);
  const { tenant } = write.context;
  const key = await keys.lock(tenant, keyId);
  const to = nextState(key, event);
  check(key);
  if (to !== key.state && to !== 'revoked') {
    await keys.setState(tenant, keyId, to);
    write.changed('key', keyId);
    write.emit(emits, keyId, {});
  }
  return await keys.get(tenant, keyId);
}

/** Revokes a key permanently. Revoking it again changes nothing: the first reason stays. */
export async function revokeKey(write: Write, keyId: string, reason: string | null): Promise<Key> {
  const { sql, context } = write;
  const keys = keyStore(sql);
  const key = await keys.lock(context.tenant, keyId);
  if (nextState(key, 'revoke') !== key.state) {
    await keys.revoke(context.tenant, keyId, reason);
    await secretStore(sql).kill(context.tenant, keyId);
    write.changed('key', keyId);
    write.emit('keys.key.revoked', keyId, { reason });
  }
  return await keys.get(context.tenant, keyId);
}

export async function deleteKey({ sql, context, changed, emit }: Write, keyId: string): Promise<void> {
  const { name } = await keyStore(sql).lock(context.tenant, keyId);
  await keyStore(sql).delete(context.tenant, keyId);
  await secretStore(sql).kill(context.tenant, keyId);
  changed('key', keyId);
  emit('keys.key.deleted', keyId, { name });
}

/** Ends the grace period of older raw keys now. Without older raw keys it changes nothing. */
export async function endGrace(write: Write, keyId: string): Promise<Key> {
  const { sql, context } = write;
  await keyStore(sql).lock(context.tenant, keyId);
  const ended = await secretStore(sql).endGrace(context.tenant, keyId);
  if (ended > 0) {
    write.changed('key', keyId);
    write.emit('keys.key.grace_ended', keyId, { secrets: ended });
  }
  return await keyStore(sql).get(context.tenant, keyId);
}
