import type { Sql } from '../../db/index.ts';

export interface NewSecret {
  readonly tenant_id: string;
  readonly key_id: string;
  /** SHA-256 of the raw key, in hexadecimal. */
  readonly hash: string;
  readonly hint: string;
  /** Defaults to now. */
  readonly created_at?: string;
}

/** Every statement about secrets: the raw keys of a key, known only by their hashes. */
export const secretStore = (sql: Sql) => ({
  async insert({ tenant_id, hash, key_id, hint, created_at }: NewSecret): Promise<void> {
    await sql`
      insert into keys.secrets (tenant_id, hash, key_id, hint, created_at)
      values (${tenant_id}, decode(${hash}, 'hex'), ${key_id}, ${hint}, coalesce(${created_at ?? null}::timestamptz, now()))`;
  },

  /** Returns how many older secrets still work, and the time at which they were counted. */
  async inGrace(tenant: string, keyId: string): Promise<{ count: number; now: string }> {
    const [row] = await sql<[{ count: number; now: string }]>`
      select count(*)::int as count, clock_timestamp() as now
      from keys.secrets
      where tenant_id = ${tenant} and key_id = ${keyId} and dead_at is null and grace_ends_at > clock_timestamp()`;
    return row;
  },

  /** Lets the current secret work until `until`. If that is at or before `at`, the secret is dead at once. */
  async replace(tenant: string, keyId: string, { at, until }: { at: string; until: string }): Promise<void> {
    await sql`
      update keys.secrets
      set
        grace_ends_at = ${until},
        dead_at = case when ${until}::timestamptz <= ${at}::timestamptz then ${at}::timestamptz end
      where tenant_id = ${tenant} and key_id = ${keyId} and grace_ends_at is null and dead_at is null`;
  },

  /** Ends older secrets. Returns how many it ended. */
  async endGrace(tenant: string, keyId: string): Promise<number> {
    const { count } = await sql`
      update keys.secrets
      set grace_ends_at = now(), dead_at = now()
      where tenant_id = ${tenant} and key_id = ${keyId} and dead_at is null and grace_ends_at > now()`;
    return count;
  },

  /** Ends all secrets of the key. */
  async kill(tenant: string, keyId: string): Promise<void> {
    await sql`
      update keys.secrets
      set dead_at = now()
      where tenant_id = ${tenant} and key_id = ${keyId} and dead_at is null`;
  },
});
