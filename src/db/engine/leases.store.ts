import type { Sql } from '../sql.ts';
import type { ClaimedJob } from './claim.store.ts';
import { lost } from './settle.store.ts';

export interface NewLease {
  readonly id: string;
  readonly kind: 'process' | 'http';
  readonly tenant: string;
  readonly app: string;
  readonly worker: string;
  readonly ttlMs: number;
}

const milliseconds = (sql: Sql, count: number) => sql`${count}::float8 * interval '1 millisecond'`;

/** Every statement about leases and the jobs under them. Times follow the database's clock. */
export const leaseStore = (sql: Sql) => ({
  async create({ id, kind, tenant, app, worker, ttlMs }: NewLease): Promise<string> {
    const [lease] = await sql<[{ expires_at: string }]>`
      insert into jobs.lease (id, kind, tenant_id, app_id, worker, expires_at)
      values (${id}, ${kind}, ${tenant}, ${app}, ${worker}, statement_timestamp() + ${milliseconds(sql, ttlMs)})
      on conflict on constraint lease_pkey do update set expires_at = excluded.expires_at
      returning expires_at`;
    return lease.expires_at;
  },

  /** Renews a lease. Undefined when it has ended; one that has expired but was not ended revives. */
  async renew(id: string, ttlMs: number): Promise<string | undefined> {
    const [lease] = await sql<{ expires_at: string }[]>`
      update jobs.lease set expires_at = statement_timestamp() + ${milliseconds(sql, ttlMs)}
      where id = ${id} returning expires_at`;
    return lease?.expires_at;
  },

  /** Ends a lease; its jobs are left to the reaper. */
  async end(id: string): Promise<void> {
    await sql`delete from jobs.lease where id = ${id}`;
  },

  /** Ends a lease. Its jobs wait again at once, and their attempts do not count. Returns the queues of these jobs. */
  async release(id: string): Promise<string[]> {
    const rows = await sql<{ queue: string }[]>`
      with back as materialized (
        update jobs.job set state = 'pending', lease_id = null, run_at = statement_timestamp(), attempt = attempt - 1
        where state = 'running' and lease_id = ${id} returning queue
      ),
      -- All statements lock jobs before leases.
      ended as (delete from jobs.lease where id = ${id} and (select count(*) from back) >= 0)
      select distinct queue from back`;
    return rows.map(({ queue }) => queue);
  },

  /**
   * Puts back what runs under a lease although its holder does not hold it: the answer to a claim was lost. Claims of the last five
   * seconds are left out, because their answers may be under way.
   */
  async putBackStrays(id: string, held: readonly string[]): Promise<string[]> {
    const rows = await sql<{ queue: string }[]>`
      update jobs.job set state = 'pending', lease_id = null, run_at = statement_timestamp(), attempt = attempt - 1
      where state = 'running' and lease_id = ${id} and started_at < statement_timestamp() - interval '5 seconds'
        and not (id = any(${[...held]}::text[]))
      returning queue`;
    return rows.map(({ queue }) => queue);
  },

  /** Ends leases of processes that cannot live any more: only one process at a time opens an embedded database. */
  async endProcesses(): Promise<void> {
    await sql`delete from jobs.lease where kind = 'process'`;
  },

  /**
   * Ends expired leases. Returns whether there are jobs whose lease has ended, or whose attempt takes too long, and the milliseconds
   * until the next lease expires if nobody renews it; null unless that is soon. Leases of outside workers that hold no job any more are
   * left to expire, and nobody waits for their end.
   */
  async endExpired({ graceMs, soonMs }: { readonly graceMs: number; readonly soonMs: number }): Promise<{
    readonly found: boolean;
    readonly nextMs: number | null;
  }> {
    const [row] = await sql<[{ found: boolean; nextMs: number | null }]>`
      with expired as (
        select id from jobs.lease where expires_at < statement_timestamp() limit 1000 for update skip locked
      ),
      ended as (delete from jobs.lease using expired where lease.id = expired.id returning lease.id)
      select exists (select from ended) or exists (select from jobs.job where ${isAstray(sql, graceMs)}) as found,
        (
          select extract(epoch from min(expires_at) - statement_timestamp())::float8 * 1000 from jobs.lease
          where expires_at between statement_timestamp() and statement_timestamp() + ${milliseconds(sql, soonMs)}
            and (kind = 'process' or exists (select from jobs.job where state = 'running' and lease_id = lease.id))
        ) as "nextMs"`;
    return row;
  },

  /** Notes on the leases of outside workers that these jobs were taken from them. */
  async noteLost(jobs: readonly Pick<ClaimedJob, 'id' | 'lease_id'>[]): Promise<void> {
    const taken = sql`
      select * from unnest(${jobs.map(({ lease_id }) => lease_id)}::text[], ${jobs.map(({ id }) => id)}::text[])
        as taken(lease_id, id)`;
    await lost(sql, taken);
  },

  /** Locks up to `most` jobs whose lease has ended (`overdue` is false), or whose attempt takes too long. */
  async astray(graceMs: number, most: number): Promise<(ClaimedJob & { overdue: boolean })[]> {
    return await sql<(ClaimedJob & { overdue: boolean })[]>`
      select job.*, exists (select from jobs.lease where lease.id = job.lease_id) as overdue
      from jobs.job
      where ${isAstray(sql, graceMs)}
      limit ${most}
      for update of job skip locked`;
  },
});

const isAstray = (sql: Sql, graceMs: number) => sql`
  state = 'running' and (
    started_at < statement_timestamp() - (timeout_ms + ${graceMs}::float8) * interval '1 millisecond'
    or not exists (select from jobs.lease where lease.id = job.lease_id)
  )`;
