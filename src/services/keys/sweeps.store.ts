import type { Sql } from '../../db/index.ts';

/** A key found by a sweep, with the moment in question. */
export interface Found {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly id: string;
  readonly expires_at: string;
}

/** Statements that find and store effects of passing time, over all tenants. Each handles at most `limit` rows. */
export const sweepStore = (sql: Sql) => ({
  /** Stores that keys have expired. */
  async expire(limit: number): Promise<Found[]> {
    return await sql<Found[]>`
      with due as (
        select tenant_id, id
        from keys.keys
        where state in ('active', 'suspended') and deleted_at is null and expires_at <= now()
        order by expires_at
        limit ${limit}
        for update skip locked
      )
      update keys.keys k
      set state = 'expired', updated_at = now()
      from due
      where k.tenant_id = due.tenant_id and k.id = due.id
      returning k.tenant_id, k.app_id, k.id, k.expires_at`;
  },

  /**
   * Records which keys end within a week and within a day, by `expires_at` or by the age of their secret, whichever comes
   * first. Each key is returned once for either warning, and again when its end changes.
   */
  async warn(limit: number): Promise<(Found & { days: number })[]> {
    return await sql<(Found & { days: number })[]>`
      with ends as (
        select tenant_id, id, expires_at as at
        from keys.keys
        where state in ('active', 'suspended') and deleted_at is null
          and expires_at > now() and expires_at <= now() + interval '7 days'
        union all
        select k.tenant_id, k.id, k.secret_created_at + p.max_key_age::interval
        from keys.policies p
        join keys.keys k on k.tenant_id = p.tenant_id and k.policy_id = p.id
        where p.max_key_age is not null and k.state in ('active', 'suspended') and k.deleted_at is null
          and k.secret_created_at > now() - p.max_key_age::interval
          and k.secret_created_at <= now() + interval '7 days' - p.max_key_age::interval
      ), due as (
        select tenant_id, id, min(at) as at, case when min(at) <= now() + interval '1 day' then 1 else 7 end as days
        from ends
        group by tenant_id, id
      ), unwarned as (
        select due.tenant_id, due.id, due.at, due.days
        from due
        join keys.keys k on k.tenant_id = due.tenant_id and k.id = due.id
        where k.warned_for is distinct from due.at or k.warned_days > due.days
        limit ${limit}
        for update of k skip locked
      )
      update keys.keys k
      set warned_for = unwarned.at, warned_days = unwarned.days
      from unwarned
      where k.tenant_id = unwarned.tenant_id and k.id = unwarned.id
      returning k.tenant_id, k.app_id, k.id, unwarned.at as expires_at, unwarned.days`;
  },

  /** Deletes the hashes of secrets that have been dead for 30 days. Returns how many it deleted. */
  async forgetSecrets(limit: number): Promise<number> {
    const { count } = await sql`
      delete from keys.secrets
      where (tenant_id, hash) in (
        select tenant_id, hash
        from keys.secrets
        where coalesce(dead_at, grace_ends_at) < now() - interval '30 days'
        limit ${limit}
      )`;
    return count;
  },

  /** Deletes the rows of keys that were deleted at least a day ago and have no usage left. Returns how many it deleted. */
  async forgetKeys(limit: number): Promise<number> {
    const { count } = await sql`
      delete from keys.keys
      where (tenant_id, id) in (
        select k.tenant_id, k.id
        from keys.keys k
        where k.deleted_at < now() - interval '1 day'
          and not exists (select from keys.usage_hourly u where u.tenant_id = k.tenant_id and u.key_id = k.id)
          and not exists (select from keys.usage u where u.tenant_id = k.tenant_id and u.key_id = k.id)
        limit ${limit}
      )`;
    return count;
  },
});
