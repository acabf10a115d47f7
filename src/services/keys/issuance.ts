import type {
  IssuedKey,
  KeyCreate,
  RotatedKey,
  Rotation,
  RotationInput,
} from '../../../generated/keys/types.ts';
import { parseDuration } from '../../lib/durations.ts';
import { Conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { checkShownText } from '../../lib/shown-text.ts';
import { canonicalDuration } from './durations.ts';
import { checkFuture } from './expiry.ts';
import { nextState } from './key-states.ts';
import { keyStore, type LockedKey } from './keys.store.ts';
import { checkMetadata } from './metadata.ts';
import { policyStore } from './policies.store.ts';
import type { Room } from './room.ts';
import { register, type StrictScopes } from './registration.ts';
import { checkMayGive, checkNotItself } from './rights.ts';
import { rotationStore } from './rotations.store.ts';
import { checkAllowed, sortedNames } from './scope-names.ts';
import { secretStore } from './secrets.store.ts';
import { tenantStore } from './tenants.store.ts';
import { makeRawKey } from './validation/raw-key.ts';
import type { Write } from './writes.ts';

export interface IssuanceRules {
  readonly room: Room;
  readonly strictScopes: StrictScopes;
}

/** Creates a key with its first secret. The raw key is in the response and nowhere else. */
export async function issueKey(write: Write, body: KeyCreate, rules: IssuanceRules): Promise<IssuedKey> {
  const { sql, context } = write;
  const { tenant, app, actor } = context;
  const { name, prefix, environment, policy_id, owner_id, expires_at } = body;
  const scopes = sortedNames(body.scopes);
  checkShownText('name', name);
  checkMetadata(body.metadata);
  if (expires_at !== null) checkFuture(expires_at, write.clock.now());
  checkMayGive(context, scopes);
  await register(write, scopes, rules.strictScopes);
  if (policy_id !== null)
    checkAllowed((await policyStore(sql).hold(tenant, policy_id)).allowed_scopes, scopes);

  const tag = await tenantStore(sql).tagOf(tenant);
  await rules.room.check(write);
  const { rawKey, hash, hint } = makeRawKey({ prefix, environment, tag });
  const id = newId('key');
  const keys = keyStore(sql);
  await keys.insert({ ...body, id, tenant_id: tenant, app_id: app, created_by: actor, scopes, hint });
  await secretStore(sql).insert({ tenant_id: tenant, key_id: id, hash, hint });
  write.emit('keys.key.created', id, { name, prefix, environment, scopes, policy_id, owner_id });
  return { raw_key: rawKey, key: await keys.get(tenant, id) };
}

/** Maximum number of older secrets that work next to the current one. */
const mostInGrace = 4;

/** Gives a key a new secret. The old secret works until its grace period ends. */
export async function rotateKey(write: Write, keyId: string, input: RotationInput): Promise<RotatedKey> {
  const { sql, context } = write;
  const { tenant } = context;
  const secrets = secretStore(sql);
  const key = await keyStore(sql).lock(tenant, keyId);
  nextState(key, 'rotate');
  checkNotItself(context, keyId);
  checkMayGive(context, key.scopes, key.app_id);

  const grace = await graceOf(write, key, input);
  if (grace.compromised) await secrets.endGrace(tenant, keyId);
  const { count, now } = await secrets.inGrace(tenant, keyId);
  if (count >= mostInGrace) throw Conflict('too many live secrets');
  const tag = await tenantStore(sql).tagOf(tenant);
  const { rawKey, hash, hint } = makeRawKey({ prefix: key.prefix, environment: key.environment, tag });
  const rotation: Rotation = {
    id: newId('krot'),
    key_id: keyId,
    tenant_id: tenant,
    reason: input.reason,
    grace_period: grace.period,
    grace_ends_at: new Date(Date.parse(now) + parseDuration(grace.period)).toISOString(),
    rotated_by: context.actor,
    old_hint: key.hint,
    new_hint: hint,
    created_at: now,
  };
  return { raw_key: rawKey, key: await storeRotation(write, rotation, hash), rotation };
}

async function storeRotation(write: Write, rotation: Rotation, hash: string): Promise<RotatedKey['key']> {
  const { sql } = write;
  const { tenant_id, key_id, reason, old_hint, new_hint, grace_ends_at, created_at } = rotation;
  await secretStore(sql).replace(tenant_id, key_id, { at: created_at, until: grace_ends_at });
  await secretStore(sql).insert({ tenant_id, key_id, hash, hint: new_hint, created_at });
  await rotationStore(sql).insert(rotation);
  await keyStore(sql).rotated(tenant_id, key_id, { hint: new_hint, at: created_at });
  write.changed('key', key_id);
  write.emit('keys.key.rotated', key_id, { reason, grace_ends_at, old_hint, new_hint });
  return await keyStore(sql).get(tenant_id, key_id);
}

/** A compromised secret ends at once, unless the caller gives a grace period. */
async function graceOf(
  { sql, context }: Write,
  { policy_id }: LockedKey,
  { reason, grace_period }: RotationInput,
): Promise<{ period: string; compromised: boolean }> {
  if (grace_period !== undefined)
    return { period: canonicalDuration(grace_period, 'grace_period'), compromised: false };
  if (reason === 'compromise' || reason === 'compromised') return { period: '0s', compromised: true };
  if (policy_id === null) return { period: '24h', compromised: false };
  const policy = await policyStore(sql).hold(context.tenant, policy_id);
  return { period: policy.grace_period, compromised: false };
}
