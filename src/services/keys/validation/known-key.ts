import { LRUCache } from 'lru-cache';
import type { ValidatedKey } from '../../../../generated/keys/types.ts';
import { parseDuration } from '../../../lib/durations.ts';
import type { Rate } from '../../../db/rates/rates.ts';
import { compileRanges } from '../../../lib/addresses.ts';
import { stateAt, type CompiledPolicy, type Subject } from './judgement.ts';
import type { LookupRow, PolicyRow } from './lookup.store.ts';
import { compileOrigins } from './origins.ts';
import { holdScopes, type HeldScopes } from './scopes.ts';

/** Everything that a validation needs to answer, built once per read: the data for the checks and the view of the key. */
export interface KnownKey extends Subject {
  readonly tenant: string;
  readonly id: string;
  /** When this secret stops working, as in the answer. Null for the current secret. */
  readonly graceEnd: string | null;
  /** The view of the key while its state is the stored one. */
  readonly view: ValidatedKey;
}

/** Converts rows to known keys. Keys of one policy share its compiled form, and keys with the same scopes share their compiled scopes. */
export function createKnownKeys(): (row: LookupRow) => KnownKey {
  const policies = new LRUCache<string, { signature: string; policy: CompiledPolicy }>({ max: 10_000 });
  const scopeSets = new LRUCache<string, HeldScopes>({ max: 10_000 });

  function policyOf(id: string, row: PolicyRow): CompiledPolicy {
    const signature = JSON.stringify(row);
    const known = policies.get(id);
    if (known?.signature === signature) return known.policy;
    const policy = compilePolicy(id, row);
    policies.set(id, { signature, policy });
    return policy;
  }

  function scopesOf(names: readonly string[]): HeldScopes {
    const list = names.join(' ');
    const known = scopeSets.get(list);
    if (known !== undefined) return known;
    const scopes = holdScopes(names);
    scopeSets.set(list, scopes);
    return scopes;
  }

  return (row) => ({
    tenant: row.tenant_id,
    id: row.id,
    secretCreatedAt: Date.parse(row.secret_created_at),
    graceEndsAt: row.grace_ends_at === null ? null : Date.parse(row.grace_ends_at),
    graceEnd: row.grace_ends_at,
    dead: row.dead,
    state: row.state,
    expiresAt: row.expires_at === null ? null : Date.parse(row.expires_at),
    environment: row.environment,
    scopes: scopesOf(row.scopes),
    policy: row.policy_id === null || row.policy === null ? null : policyOf(row.policy_id, row.policy),
    view: {
      id: row.id,
      name: row.name,
      state: row.state,
      tenant_id: row.tenant_id,
      app_id: row.app_id,
      environment: row.environment,
      owner_id: row.owner_id,
      policy_id: row.policy_id,
      expires_at: row.expires_at,
      metadata: row.metadata,
    },
  });
}

/** Returns the view of the key at `now`: a key past its expiry is expired, even before that is stored. */
export function viewAt(known: KnownKey, now: number): ValidatedKey {
  const state = stateAt(known, now);
  return state === known.state ? known.view : { ...known.view, state };
}

function compilePolicy(id: string, row: PolicyRow): CompiledPolicy {
  return {
    id,
    rate: rateOf(row),
    maxKeyAgeMs: row.max_key_age === null ? null : parseDuration(row.max_key_age),
    requireContext: row.require_context,
    addresses: row.allowed_ips.length === 0 ? null : compileRanges(row.allowed_ips),
    origins: row.allowed_origins.length === 0 ? null : compileOrigins(row.allowed_origins),
  };
}

/** Returns the limit that a policy sets for each of its keys, or null when it sets none. */
export function rateOf({
  rate_limit,
  rate_window,
}: Pick<PolicyRow, 'rate_limit' | 'rate_window'>): Rate | null {
  return rate_limit === 0 ? null : { limit: rate_limit, windowMs: parseDuration(rate_window) };
}
