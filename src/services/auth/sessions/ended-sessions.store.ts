import type { Sql } from '../../../db/index.ts';

/** Every statement about the rows of ended sessions. Each returns how many rows it affected, at most `batch`. */
export const endedSessionStore = (sql: Sql) => ({
  /** Marks expired sessions as revoked at their expiry, and removes their secrets. */
  async endExpired(batch: number): Promise<number> {
    const { count } = await sql`
      update auth.sessions
      set revoked_at = refresh_expires_at, token_hash = null, refresh_hash = null, retry_key = null, retry_box = null
      where (tenant_id, id) in (
        select tenant_id, id from auth.sessions
        where revoked_at is null and refresh_expires_at <= now()
        limit ${batch}
        for update skip locked
      )`;
    return count;
  },

  /** Deletes the spent refresh tokens of recently ended sessions; once the session is over, reuse no longer matters. */
  async forgetSpent(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.spent_refresh
      where (tenant_id, hash) in (
        select spent.tenant_id, spent.hash
        from auth.sessions
        join auth.spent_refresh as spent
          on spent.tenant_id = sessions.tenant_id and spent.session_id = sessions.id
        where sessions.revoked_at > now() - interval '7 days'
        limit ${batch}
      )`;
    return count;
  },

  /** Deletes sessions that ended 30 days ago, with spent tokens that a long downtime left behind. */
  async prune(batch: number): Promise<number> {
    const [{ removed }] = await sql<[{ removed: number }]>`
      with gone as (
        delete from auth.sessions
        where (tenant_id, id) in (
          select tenant_id, id from auth.sessions
          where revoked_at <= now() - interval '30 days'
          limit ${batch}
        )
        returning tenant_id, id
      ), spent as (
        delete from auth.spent_refresh
        using gone
        where spent_refresh.tenant_id = gone.tenant_id and spent_refresh.session_id = gone.id
      )
      select count(*)::int as removed from gone`;
    return removed;
  },
});
