import type { Key } from '../../../generated/keys/types.ts';
import { nextState } from './key-states.ts';
import { keyStore, type LockedKey } from './keys.store.ts';
import { policyStore } from './policies.store.ts';
import { register, type StrictScopes } from './registration.ts';
import { checkMayGive, checkMayTake, checkNotItself } from './rights.ts';
import { checkAllowed, joined, without } from './scope-names.ts';
import type { Write } from './writes.ts';

/** Assigns scopes to a key. Scopes that it already holds change nothing. */
export async function assignScopes(
  write: Write,
  keyId: string,
  names: readonly string[],
  strict: StrictScopes,
): Promise<Key> {
  const { sql, context } = write;
  await register(write, names, strict);
  const key = await keyStore(sql).lock(context.tenant, keyId);
  nextState(key, 'change');
  const scopes = joined(key.scopes, names);
  const added = without(scopes, key.scopes);
  if (added.length > 0) {
    checkNotItself(context, keyId);
    checkMayGive(context, added, key.app_id);
    if (key.policy_id !== null) {
      checkAllowed((await policyStore(sql).hold(context.tenant, key.policy_id)).allowed_scopes, added);
    }
  }
  return await storeScopes(write, key, scopes);
}

/** Removes scopes from a key. Scopes that it does not hold change nothing. */
export async function removeScopes(write: Write, keyId: string, names: readonly string[]): Promise<Key> {
  const key = await keyStore(write.sql).lock(write.context.tenant, keyId);
  nextState(key, 'change');
  const left = without(key.scopes, names);
  checkMayTake(write.context, without(key.scopes, left), key.app_id);
  return await storeScopes(write, key, left);
}

async function storeScopes(write: Write, key: LockedKey, scopes: readonly string[]): Promise<Key> {
  const { sql, context } = write;
  const added = without(scopes, key.scopes);
  const removed = without(key.scopes, scopes);
  if (added.length + removed.length > 0) {
    await keyStore(sql).setScopes(context.tenant, key.id, scopes);
    write.changed('key', key.id);
    write.emit('keys.key.scopes_changed', key.id, { added, removed });
  }
  return await keyStore(sql).get(context.tenant, key.id);
}
