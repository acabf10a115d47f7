import type { Key } from '../../../generated/keys/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import type { KeyState } from './key-states.ts';

export type NewKey = Pick<Key, Fixed>;
type Fixed =
  | ('id' | 'tenant_id' | 'app_id' | 'name' | 'description' | 'prefix' | 'environment' | 'hint' | 'scopes')
  | ('policy_id' | 'owner_id' | 'metadata' | 'expires_at' | 'created_by');

/** The members of a key that a change reads first. */
export interface LockedKey extends Pick<Key, Fixed> {
  /** The current state, whether or not the passing of `expires_at` is stored yet. */
  readonly state: KeyState;
  readonly suspended: boolean;
}

export type KeyChange = Partial<
  Pick<Key, 'name' | 'description' | 'policy_id' | 'owner_id' | 'metadata' | 'expires_at'>
>;

export interface KeyFilter {
  readonly state?: KeyState | undefined;
  readonly environment?: string | undefined;
  readonly policy_id?: string | undefined;
  readonly owner_id?: string | undefined;
  readonly scope?: string | undefined;
}

/** Every statement about keys. Deleted keys count as absent. */
export const keyStore = (sql: Sql) => ({
  async insert(key: NewKey): Promise<void> {
    await sql`insert into keys.keys ${sql(key)}`;
  },

  async find(tenant: string, id: string): Promise<Key | undefined> {
    const [key] = await sql<Key[]>`
      select ${columns(sql)} from keys.keys k where k.tenant_id = ${tenant} and k.id = ${id} and k.deleted_at is null`;
    return key;
  },

  async get(tenant: string, id: string): Promise<Key> {
    const key = await this.find(tenant, id);
    if (!key) throw NotFound('key');
    return key;
  },

  /** Returns keys newest first, and one more than `limit` when more follow. */
  async list(tenant: string, filter: KeyFilter, window: Window): Promise<Key[]> {
    return await sql<Key[]>`
      select ${columns(sql)}
      from keys.keys k
      where k.tenant_id = ${tenant} and k.deleted_at is null ${matches(sql, filter)}
        ${followsPrevious(sql, window, 'k')}
      ${onePage(sql, window, 'k')}`;
  },

  /** Returns the key and locks it for the rest of the transaction. */
  async lock(tenant: string, id: string): Promise<LockedKey> {
    const [key] = await sql<LockedKey[]>`
      select
        k.id, k.tenant_id, k.app_id, k.name, k.description, k.prefix, k.environment, k.hint, k.scopes, k.policy_id,
        k.owner_id, k.metadata, k.expires_at, k.created_by, ${state(sql)} as state,
        k.suspended_at is not null as suspended
      from keys.keys k
      where k.tenant_id = ${tenant} and k.id = ${id} and k.deleted_at is null
      for update`;
    if (!key) throw NotFound('key');
    return key;
  },

  /** Returns the policy that limits a key, or null without one. */
  async policyOf(tenant: string, id: string): Promise<string | null> {
    const [key] = await sql<Pick<Key, 'policy_id'>[]>`
      select policy_id from keys.keys where tenant_id = ${tenant} and id = ${id}`;
    return key?.policy_id ?? null;
  },

  /** Counts the keys of the tenant, up to `most`. */
  async count(tenant: string, most: number): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from (select from keys.keys where tenant_id = ${tenant} and deleted_at is null limit ${most}) k`;
    return count;
  },

  async update(tenant: string, id: string, change: KeyChange): Promise<void> {
    await sql`
      update keys.keys
      set ${sql(change)}, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}`;
  },

  async setScopes(tenant: string, id: string, scopes: readonly string[]): Promise<void> {
    await sql`
      update keys.keys
      set scopes = ${[...scopes]}, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Removes a scope from every key of the tenant that holds it. Locks the keys in id order, so that two scopes can be removed at once. */
  async dropScope(tenant: string, name: string): Promise<void> {
    await sql`
      with holders as (
        select tenant_id, id
        from keys.keys
        where tenant_id = ${tenant} and scopes @> array[${name}]::text[]
        order by id
        for update
      )
      update keys.keys k
      set scopes = array_remove(k.scopes, ${name}), updated_at = now()
      from holders
      where k.tenant_id = holders.tenant_id and k.id = holders.id`;
  },

  /** Returns another app whose keys hold the scope, or undefined. */
  async otherAppOf(tenant: string, name: string, app: string): Promise<string | undefined> {
    const [key] = await sql<{ app_id: string }[]>`
      select app_id from keys.keys
      where tenant_id = ${tenant} and scopes @> array[${name}]::text[] and deleted_at is null and app_id <> ${app}
      limit 1`;
    return key?.app_id;
  },

  /** Counts the keys that hold a scope, up to `most`. */
  async holders(tenant: string, name: string, most: number): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from (
        select from keys.keys
        where tenant_id = ${tenant} and scopes @> array[${name}]::text[] and deleted_at is null
        limit ${most}
      ) k`;
    return count;
  },

  /** Stores a state. A suspension is remembered while the key is expired. */
  async setState(tenant: string, id: string, to: Exclude<KeyState, 'revoked'>): Promise<void> {
    await sql`
      update keys.keys
      set
        state = ${to},
        suspended_at = case ${to}
          when 'active' then null
          when 'suspended' then coalesce(suspended_at, now())
          else suspended_at
        end,
        updated_at = now()
      where tenant_id = ${tenant} and id = ${id}`;
  },

  async revoke(tenant: string, id: string, reason: string | null): Promise<void> {
    await sql`
      update keys.keys
      set state = 'revoked', revoked_at = now(), revoke_reason = ${reason}, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}`;
  },

  async rotated(tenant: string, id: string, { hint, at }: { hint: string; at: string }): Promise<void> {
    await sql`
      update keys.keys
      set hint = ${hint}, secret_created_at = ${at}, rotated_at = ${at}, updated_at = ${at}
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Marks the key as deleted. Its row stays as long as usage refers to it. */
  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      update keys.keys
      set deleted_at = now(), updated_at = now()
      where tenant_id = ${tenant} and id = ${id}`;
  },
});

/** The passing of `expires_at` takes effect at once, even before the sweep stores it. */
const state = (sql: Sql) => sql`
  case when k.state in ('active', 'suspended') and k.expires_at <= now() then 'expired' else k.state end`;

const columns = (sql: Sql) => sql`
  k.id, k.tenant_id, k.app_id, k.name, k.description, k.prefix, k.environment, ${state(sql)} as state, k.hint, k.scopes,
  k.policy_id, k.owner_id, k.metadata, k.expires_at,
  (
    select count(*)::int
    from keys.secrets s
    where s.tenant_id = k.tenant_id and s.key_id = k.id and s.dead_at is null
      and (s.grace_ends_at is null or s.grace_ends_at > now())
  ) as live_secrets,
  k.secret_created_at, k.rotated_at, k.last_used_at, k.revoked_at, k.revoke_reason, k.created_by, k.created_at, k.updated_at`;

/** The same condition in a form that an index answers. */
function inState(sql: Sql, wanted: KeyState) {
  const ended = sql`k.state in ('active', 'suspended') and k.expires_at <= now()`;
  if (wanted === 'expired') return sql`and (k.state = 'expired' or (${ended}))`;
  return sql`and k.state = ${wanted} and (${ended}) is not true`;
}

const matches = (sql: Sql, filter: KeyFilter) => sql`
  ${filter.state === undefined ? sql`` : inState(sql, filter.state)}
  ${filter.environment === undefined ? sql`` : sql`and k.environment = ${filter.environment}`}
  ${filter.policy_id === undefined ? sql`` : sql`and k.policy_id = ${filter.policy_id}`}
  ${filter.owner_id === undefined ? sql`` : sql`and k.owner_id = ${filter.owner_id}`}
  ${filter.scope === undefined ? sql`` : sql`and k.scopes @> array[${filter.scope}]::text[]`}`;
