import type { Sql } from '../../db/index.ts';

/** A worker's wish for jobs: of a queue, an app and a tenant, or of all tenants. */
export interface Wish {
  readonly queue: string;
  readonly app: string;
  readonly tenant: string | undefined;
}

/** What there is for a wish. */
export interface Prospect {
  /** The place of the wish in the list. */
  readonly at: number;
  /** Milliseconds until a job that waits for it becomes due; not above 0 when one may be due now. */
  readonly due_in: number;
}

/** Every statement by which waiting workers look for jobs. */
export const takingStore = (sql: Sql) => ({
  /**
   * The wishes for which jobs wait. For one tenant it tells when the first is due; for all tenants only that there are jobs, because
   * each tenant has jobs of its own. The cost depends on the number of different priorities, and not on the number of jobs.
   */
  async prospects(wishes: readonly Wish[]): Promise<Prospect[]> {
    return await sql<Prospect[]>`
      select asked.place::integer - 1 as at, first.due_in
      from unnest(
        ${wishes.map(({ queue }) => queue)}::text[], ${wishes.map(({ app }) => app)}::text[],
        ${wishes.map(({ tenant }) => tenant ?? null)}::text[]
      ) with ordinality as asked(queue, app_id, tenant_id, place)
      cross join lateral (
        with recursive ranks as (
          (select rank from jobs.job where queue = asked.queue and state in ('pending', 'retrying') order by rank limit 1)
          union all
          select (
            select rank from jobs.job
            where queue = asked.queue and state in ('pending', 'retrying') and rank > ranks.rank order by rank limit 1
          )
          from ranks where ranks.rank is not null
        )
        select min(
          case when asked.tenant_id is null then 0 else extract(epoch from one.run_at - statement_timestamp())::float8 * 1000 end
        ) as due_in
        from ranks
        cross join lateral (
          select run_at from jobs.job
          where queue = asked.queue and state in ('pending', 'retrying') and rank = ranks.rank and app_id = asked.app_id
            and tenant_id = asked.tenant_id
          order by run_at limit 1
        ) as one
        where asked.tenant_id is not null
        union all
        select 0::float8 as due_in
        where asked.tenant_id is null and exists (
          select from ranks cross join lateral (
            select from jobs.job
            where queue = asked.queue and state in ('pending', 'retrying') and rank = ranks.rank and app_id = asked.app_id limit 1
          ) as one
        )
      ) as first
      where first.due_in is not null`;
  },

  /** A lease of an outside worker; `*` stands for the operator, who takes jobs of all tenants. */
  async createLease(lease: {
    readonly id: string;
    readonly app: string;
    readonly tenant: string | undefined;
    readonly worker: string;
    readonly ttlMs: number;
  }): Promise<string> {
    const [row] = await sql<[{ expires_at: string }]>`
      insert into jobs.lease (id, kind, tenant_id, app_id, worker, ttl_ms, expires_at)
      values (
        ${lease.id}, 'http', ${lease.tenant ?? '*'}, ${lease.app}, ${lease.worker}, ${lease.ttlMs},
        statement_timestamp() + ${lease.ttlMs}::float8 * interval '1 millisecond'
      )
      returning expires_at`;
    return row.expires_at;
  },

  async deleteLease(id: string): Promise<void> {
    await sql`delete from jobs.lease where id = ${id}`;
  },
});
