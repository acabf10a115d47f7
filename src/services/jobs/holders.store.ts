import type { ClaimedJob } from '../../db/engine/claim.store.ts';
import type { Sql } from '../../db/index.ts';
import { isInView, type View } from '../../db/view.ts';
import { NotFound } from '../../lib/errors.ts';

export interface HttpLease {
  readonly id: string;
  readonly expires_at: string;
  /** Jobs that were taken from it. */
  readonly lost: string[];
}

/** Every statement about the leases of outside workers and the jobs under them. */
export const leaseHolderStore = (sql: Sql) => ({
  /** Renews a lease for the given time, or for as long as it lasted at first. @throws NotFound when it has ended */
  async renew(view: View, id: string, ttlMs: number | undefined): Promise<HttpLease> {
    const [lease] = await sql<HttpLease[]>`
      update jobs.lease
      set expires_at = statement_timestamp() + coalesce(${ttlMs ?? null}::float8, ttl_ms) * interval '1 millisecond'
      where id = ${id} and kind = 'http' and ${isInView(sql, view)}
      returning id, expires_at, lost`;
    if (lease === undefined) throw NotFound('lease');
    return lease;
  },

  /** @throws NotFound when the lease has ended. One that ends right afterwards holds no job any more. */
  async check(view: View, id: string): Promise<void> {
    const rows = await sql`
      select from jobs.lease where id = ${id} and kind = 'http' and ${isInView(sql, view)}`;
    if (rows.length === 0) throw NotFound('lease');
  },

  /** Milliseconds until a moment by the clock of the database; 0 when it has passed. */
  async msUntil(moment: string): Promise<number> {
    const [row] = await sql<[{ ms: number }]>`
      select greatest(0, extract(epoch from ${moment}::timestamptz - statement_timestamp()) * 1000)::float8 as ms`;
    return row.ms;
  },

  /** Locks those of these jobs that the lease holds. */
  async held(view: View, leaseId: string, ids: readonly string[]): Promise<ClaimedJob[]> {
    return await sql<ClaimedJob[]>`
      select * from jobs.job
      where id = any(${[...ids]}::text[]) and lease_id = ${leaseId} and state = 'running' and ${isInView(sql, view)}
      order by id for update`;
  },
});
