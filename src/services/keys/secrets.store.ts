import type { Sql } from '../../db/index.ts';

export interface NewSecret {
  readonly tenant_id: string;
  readonly key_id: string;
  /** SHA-256 of the raw key, hex. */
  readonly hash: string;
  readonly hint: string;
  /** Now, when absent. */
  readonly created_at?: string;
}

/** Every statement about secrets: the raw keys of a key, known by their hashes only. */
export const secretStore = (sql: Sql) => ({
  async insert({ tenant_id, hash, key_id, hint, created_at }: NewSecret): Promise<void> {
    await sql`
      insert into keys.secrets (tenant_id, hash, key_id, hint, created_at)
      values (${tenant_id}, decode(${hash}, 'hex'), ${key_id}, ${hint}, coalesce(${created_at ?? null}::timestamptz, now()))`;
  },

  /** How many older secrets still work, and what time it is for all of them. */
  async inGrace(tenant: string, keyId: string): Promise<{ count: number; now: string }> {
    const [row] = await sql<[{ count: number; now: string }]>`
      select count(*)::int as count, clock_timestamp() as now
      from keys.secrets
      where tenant_id = ${tenant} and key_id = ${keyId} and dead_at is null and grace_ends_at > clock_timestamp()`;
    return row;
  },

  /** The current secret works until `until`; at `at` or before, it is dead at once. */
  async replace(tenant: string, keyId: string, { at, until }: { at: string; until: string }): Promise<void> {
    await sql`
      update keys.secrets
      set
        grace_ends_at = ${until},
        dead_at = case when ${until}::timestamptz <= ${at}::timestamptz then ${at}::timestamptz end
      where tenant_id = ${tenant} and key_id = ${keyId} and grace_ends_at is null and dead_at is null`;
  },

  /** Older secrets stop working; answers how many did. */
  async endGrace(tenant: string, keyId: string): Promise<number> {
    const { count } = await sql`
      update keys.secrets
      set grace_ends_at = now(), dead_at = now()
      where tenant_id = ${tenant} and key_id = ${keyId} and dead_at is null and grace_ends_at > now()`;
    return count;
  },

  /** All secrets of the key stop working. */
  async kill(tenant: string, keyId: string): Promise<void> {
    await sql`
      update keys.secrets
      set dead_at = now()
      where tenant_id = ${tenant} and key_id = ${keyId} and dead_at is null`;
  },
});
