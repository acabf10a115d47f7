import type { Sql } from '../sql.ts';

/** A cron entry that is due. */
export interface DueCron {
  readonly tenant_id: string;
  readonly id: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly misfire: 'once' | 'skip';
  readonly next_run_at: string;
}

/** What a process makes of a due entry; it counts only if the entry is still as it was read. */
export interface Firing {
  readonly tenant_id: string;
  readonly id: string;
  /** The tick for which the entry was due. */
  readonly due: string;
  /** The tick for which a job is made; null when it is skipped. */
  readonly tick: string | null;
  readonly next: string | null;
  readonly job_id: string;
}

/** What a cron entry makes and when. */
export interface CronColumns {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly name: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly job_name: string;
  readonly queue: string;
  readonly payload: string;
  readonly tags: readonly string[];
  readonly rank: number;
  readonly max_attempts: number;
  readonly timeout_ms: number;
  readonly backoff_type: string;
  readonly backoff_delay_ms: number;
  readonly backoff_max_ms: number;
  readonly misfire: 'once' | 'skip';
  readonly overlap: 'allow' | 'skip';
}

/** Every statement by which cron entries fire, and by which the code declares its own. */
export const cronStore = (sql: Sql) => ({
  /** The database's clock, in milliseconds since 1970. */
  async now(): Promise<number> {
    const [row] = await sql<
      [{ now: number }]
    >`select floor(extract(epoch from statement_timestamp()) * 1000)::float8 as now`;
    return row.now;
  },

  /** Due entries, the database's clock, and the milliseconds until the next entry is due. */
  async due(most: number): Promise<{ now: number; due: DueCron[]; nextInMs: number | null }> {
    const [row] = await sql<[{ now: number; due: DueCron[]; next_in: number | null }]>`
      select
        floor(extract(epoch from statement_timestamp()) * 1000)::float8 as now,
        (
          select coalesce(json_agg(entry), '[]') from (
            select tenant_id, id, schedule, timezone, misfire, next_run_at
            from jobs.cron where enabled and next_run_at <= statement_timestamp()
            order by next_run_at limit ${most}
          ) as entry
        ) as due,
        (
          select extract(epoch from min(next_run_at) - statement_timestamp())::float8 * 1000
          from jobs.cron where enabled and next_run_at > statement_timestamp()
        ) as next_in`;
    return { now: row.now, due: row.due, nextInMs: row.next_in };
  },

  /**
   * Fires entries in one statement: the comparison with the tick lets exactly one process win each. Returns the queues of the jobs. An
   * entry that is locked is being fired or changed by somebody else, and is left to them.
   */
  async fire(list: readonly Firing[]): Promise<string[]> {
    const rows = await sql<{ queue: string }[]>`
      with given as (
        select * from json_to_recordset(${JSON.stringify(list)}::text::json)
          as given(tenant_id text, id text, due timestamptz, tick timestamptz, next timestamptz, job_id text)
      ),
      won as materialized (
        select cron.*, given.tick, given.next, given.job_id
        from given join jobs.cron on cron.tenant_id = given.tenant_id and cron.id = given.id
        where cron.enabled and cron.next_run_at = given.due
        order by cron.tenant_id, cron.id
        for update of cron skip locked
      ),
      moved as (
        update jobs.cron
        set next_run_at = won.next, last_fired_at = case when won.tick is null then cron.last_fired_at else statement_timestamp() end
        from won where cron.tenant_id = won.tenant_id and cron.id = won.id
      ),
      ${cronJobs(sql)}
      select distinct queue from made`;
    return rows.map(({ queue }) => queue);
  },

  /** Makes a job of an entry now; its schedule does not change. Undefined when there is no such entry, or its last job still lives. */
  async trigger(
    tenant: string,
    id: string,
    jobId: string,
  ): Promise<{ id: string; queue: string } | undefined> {
    const [made] = await sql<{ id: string; queue: string }[]>`
      with won as materialized (
        select cron.*, statement_timestamp() as tick, ${jobId} as job_id
        from jobs.cron where tenant_id = ${tenant} and id = ${id} for share
      ),
      ${cronJobs(sql)}
      select id, queue from made`;
    return made;
  },

  /**
   * Declares an entry by its name, as the code wants it. While the schedule stays the same, the next tick stays too; whether the entry
   * is enabled stays in any case. `next` is the next tick of the schedule.
   */
  async declare(id: string, entry: CronColumns, next: string | null): Promise<void> {
    await sql`
      insert into jobs.cron as entry (
        tenant_id, id, app_id, name, schedule, timezone, enabled, next_run_at, job_name, queue, payload, tags, rank, max_attempts,
        timeout_ms, backoff_type, backoff_delay_ms, backoff_max_ms, misfire, overlap
      )
      values (
        ${entry.tenant_id}, ${id}, ${entry.app_id}, ${entry.name}, ${entry.schedule}, ${entry.timezone}, true, ${next}::timestamptz,
        ${entry.job_name}, ${entry.queue}, ${entry.payload}::text::json, ${[...entry.tags]}::text[], ${entry.rank}, ${entry.max_attempts},
        ${entry.timeout_ms}, ${entry.backoff_type}, ${entry.backoff_delay_ms}, ${entry.backoff_max_ms}, ${entry.misfire},
        ${entry.overlap}
      )
      on conflict on constraint cron_name_key do update set
        schedule = excluded.schedule, timezone = excluded.timezone, job_name = excluded.job_name, queue = excluded.queue,
        payload = excluded.payload, tags = excluded.tags, rank = excluded.rank, max_attempts = excluded.max_attempts,
        timeout_ms = excluded.timeout_ms, backoff_type = excluded.backoff_type, backoff_delay_ms = excluded.backoff_delay_ms,
        backoff_max_ms = excluded.backoff_max_ms, misfire = excluded.misfire, overlap = excluded.overlap, updated_at = now(),
        next_run_at = case
          when not entry.enabled then null
          when entry.schedule = excluded.schedule and entry.timezone = excluded.timezone then entry.next_run_at
          else excluded.next_run_at
        end`;
  },

  /** Enables an entry from its next tick on, or disables it. Returns whether there is such an entry. */
  async setEnabled(tenant: string, id: string, next: string | null): Promise<boolean> {
    const { count } = await sql`
      update jobs.cron set enabled = ${next !== null}, next_run_at = ${next}::timestamptz, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}`;
    return count === 1;
  },

  async delete(tenant: string, id: string): Promise<boolean> {
    const { count } = await sql`delete from jobs.cron where tenant_id = ${tenant} and id = ${id}`;
    return count === 1;
  },
});

/** The jobs of the entries in `won`. With `overlap` `skip` an entry has a key, which its last job holds while it lives. */
const cronJobs = (sql: Sql) => sql`
  gained as (
    insert into jobs.job_key as held (tenant_id, app_id, unique_key, job_id)
    select tenant_id, app_id, 'cron:' || id, job_id from won where tick is not null and overlap = 'skip'
    order by tenant_id, app_id, 'cron:' || id
    on conflict on constraint job_key_pkey do nothing
    returning job_id
  ),
  made as (
    insert into jobs.job (
      tenant_id, id, app_id, name, queue, rank, payload, tags, max_attempts, run_at, timeout_ms, backoff_type, backoff_delay_ms,
      backoff_max_ms, unique_key, origin_id
    )
    select tenant_id, job_id, app_id, job_name, queue, rank, payload, tags, max_attempts, tick, timeout_ms, backoff_type,
      backoff_delay_ms, backoff_max_ms, case when overlap = 'skip' then 'cron:' || id end, id
    from won
    where tick is not null and (overlap = 'allow' or exists (select from gained where gained.job_id = won.job_id))
    returning id, queue
  )`;
