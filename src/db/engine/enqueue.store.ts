import type { Sql } from '../sql.ts';
import type { NewJob } from './job.ts';

/** The job that an enqueued one came to: itself, or the live one that holds its unique key. */
export interface Stored {
  readonly id: string;
  /** The id of the job that exists now. */
  readonly job_id: string;
}

/** Every statement that stores new jobs. */
export const enqueueStore = (sql: Sql) => ({
  /** Stores jobs without unique keys. A job that is stored already stays as it is. */
  async insert(jobs: readonly NewJob[]): Promise<void> {
    const [first] = jobs;
    const rows =
      jobs.length === 1
        ? values(sql, first!)
        : sql`select ${columns(sql)} from (${given(sql, jobs)}) as given`;
    await sql`insert into jobs.job (${columns(sql)}) ${rows} on conflict on constraint job_pkey do nothing`;
  },

  /**
   * Takes the unique keys of these jobs and stores those that got theirs. Keys are taken in their order, so that two statements do not
   * wait for each other. Jobs that are missing in the result found their key taken; the holder may not be visible to this statement.
   */
  async insertUnique(jobs: readonly NewJob[]): Promise<Stored[]> {
    return await sql<Stored[]>`
      with given as materialized (${given(sql, jobs)}),
      first as (
        select distinct on (tenant_id, app_id, unique_key) tenant_id, app_id, unique_key, id, unique_for_ms
        from given
        order by tenant_id, app_id, unique_key, id
      ),
      gained as (
        insert into jobs.job_key as held (tenant_id, app_id, unique_key, job_id, expires_at)
        select tenant_id, app_id, unique_key, id, statement_timestamp() + unique_for_ms * interval '1 millisecond'
        from first
        order by tenant_id, app_id, unique_key
        on conflict on constraint job_key_pkey do update
        set job_id = excluded.job_id, expires_at = excluded.expires_at
        where held.expires_at <= statement_timestamp() or held.job_id = excluded.job_id
        returning tenant_id, job_id
      )
      insert into jobs.job (${columns(sql)})
      select ${columns(sql, sql`given.`)} from given join gained on gained.tenant_id = given.tenant_id and gained.job_id = given.id
      on conflict on constraint job_pkey do update set name = jobs.job.name
      returning id, id as job_id`;
  },

  /** The holders of the keys of jobs that did not get them. A job whose key has become free meanwhile is missing. */
  async holders(jobs: readonly NewJob[]): Promise<Stored[]> {
    return await sql<Stored[]>`
      select given.id, held.job_id
      from unnest(
        ${jobs.map(({ id }) => id)}::text[], ${jobs.map(({ tenant }) => tenant)}::text[],
        ${jobs.map(({ app }) => app)}::text[], ${jobs.map(({ uniqueKey }) => uniqueKey ?? '')}::text[]
      ) as given(id, tenant_id, app_id, unique_key)
      join jobs.job_key as held
        on held.tenant_id = given.tenant_id and held.app_id = given.app_id and held.unique_key = given.unique_key
      where held.expires_at is null or held.expires_at > statement_timestamp()`;
  },

  /**
   * Gives waiting jobs, by their ids, the payload and the due time of newer ones with the same key. Returns the ids of those that are
   * live: a running one stays as it is. Jobs are locked in the order of their ids, so that no two statements wait for each other.
   */
  async replace(newer: ReadonlyMap<string, NewJob>): Promise<Set<string>> {
    const rows = await sql<{ id: string }[]>`
      with given as materialized (
        select existing.id as existing, given.*
        from (${given(sql, [...newer.values()])}) as given
        join unnest(${[...newer.keys()]}::text[], ${[...newer.values()].map(({ id }) => id)}::text[]) as existing(id, of_id)
          on existing.of_id = given.id
      ),
      live as materialized (
        select job.tenant_id, job.id from jobs.job join given on job.tenant_id = given.tenant_id and job.id = given.existing
        order by job.tenant_id, job.id for update of job
      ),
      replaced as (
        update jobs.job set payload = given.payload, run_at = given.run_at
        from live join given on live.tenant_id = given.tenant_id and live.id = given.existing
        where job.tenant_id = live.tenant_id and job.id = live.id and job.state in ('pending', 'retrying')
      )
      select id from live`;
    return new Set(rows.map(({ id }) => id));
  },

  /** Which of these jobs are stored, live or ended. */
  async existing(jobs: readonly NewJob[]): Promise<Set<string>> {
    const keys = sql`unnest(${jobs.map(({ tenant }) => tenant)}::text[], ${jobs.map(({ id }) => id)}::text[]) as given(tenant_id, id)`;
    const rows = await sql<{ id: string }[]>`
      select id from ${keys} join jobs.job using (tenant_id, id)
      union all
      select id from ${keys} join jobs.job_done using (tenant_id, id)`;
    return new Set(rows.map(({ id }) => id));
  },
});

/** The columns of a new job. */
const columns = (sql: Sql, of = sql``) => sql`
  ${of}tenant_id, ${of}id, ${of}app_id, ${of}name, ${of}queue, ${of}rank, ${of}payload, ${of}tags, ${of}max_attempts, ${of}run_at,
  ${of}timeout_ms, ${of}backoff_type, ${of}backoff_delay_ms, ${of}backoff_max_ms, ${of}unique_key, ${of}origin_id, ${of}created_at`;

/** A new job without a unique key as a row: as `given` for many, at two thirds of what that costs for one. */
const values = (sql: Sql, job: NewJob) => sql`
  values (
    ${job.tenant}, ${job.id}, ${job.app}, ${job.name}, ${job.queue}, ${job.rank}::smallint, ${job.payload}::text::json,
    ${[...job.tags]}::text[], ${job.maxAttempts}::smallint,
    greatest(statement_timestamp(), coalesce(${job.runAt}::timestamptz, statement_timestamp() + ${job.delayMs}::bigint * interval '1 millisecond')),
    ${job.timeoutMs}::integer, ${job.backoff.type}, ${job.backoff.delayMs}::integer, ${job.backoff.maxMs}::integer, null,
    ${job.originId}, statement_timestamp()
  )`;

/**
 * New jobs as rows. What is due in the past is due now, and milliseconds count from the beginning of the statement. What jobs have in
 * common is sent once, because the jobs of a batch are mostly alike.
 */
function given(sql: Sql, jobs: readonly NewJob[]) {
  const of = <Value>(value: (job: NewJob) => Value) => jobs.map(value);
  const { first, nths } = kindsOf(jobs);
  const ofKind = <Value>(value: (job: NewJob) => Value) => first.map(value);
  return sql`
    select tenant_id, id, app_id, name, queue, rank::smallint, payload::json as payload,
      case when tags = '[]' then '{}' else array(select json_array_elements_text(tags::json)) end as tags, max_attempts::smallint,
      greatest(statement_timestamp(), coalesce(run_at, statement_timestamp() + delay_ms * interval '1 millisecond')) as run_at,
      timeout_ms, backoff_type, backoff_delay_ms, backoff_max_ms, unique_key, unique_for_ms, origin_id,
      statement_timestamp() as created_at
    from unnest(
      ${of(({ id }) => id)}::text[], ${nths}::integer[], ${of(({ payload }) => payload)}::text[],
      ${of(({ runAt }) => runAt)}::timestamptz[], ${of(({ uniqueKey }) => uniqueKey)}::text[],
      ${of(({ originId }) => originId)}::text[]
    ) as job(id, kind, payload, run_at, unique_key, origin_id)
    join unnest(
      ${ofKind(({ tenant }) => tenant)}::text[], ${ofKind(({ app }) => app)}::text[], ${ofKind(({ name }) => name)}::text[],
      ${ofKind(({ queue }) => queue)}::text[], ${ofKind(({ rank }) => rank)}::integer[],
      ${ofKind(({ tags }) => JSON.stringify(tags))}::text[], ${ofKind(({ maxAttempts }) => maxAttempts)}::integer[],
      ${ofKind(({ delayMs }) => delayMs)}::bigint[], ${ofKind(({ timeoutMs }) => timeoutMs)}::integer[],
      ${ofKind(({ backoff }) => backoff.type)}::text[], ${ofKind(({ backoff }) => backoff.delayMs)}::integer[],
      ${ofKind(({ backoff }) => backoff.maxMs)}::integer[], ${ofKind(({ uniqueForMs }) => uniqueForMs)}::bigint[]
    ) with ordinality as kind(
      tenant_id, app_id, name, queue, rank, tags, max_attempts, delay_ms, timeout_ms, backoff_type, backoff_delay_ms, backoff_max_ms,
      unique_for_ms, nth
    ) on kind.nth = job.kind`;
}

/** The first job of each kind, and for each job the number of its kind, from 1. Only neighbours are compared. */
function kindsOf(jobs: readonly NewJob[]): { first: NewJob[]; nths: number[] } {
  const first: NewJob[] = [];
  const nths = jobs.map((job) => {
    const last = first.at(-1);
    if (last === undefined || !isAlike(job, last)) first.push(job);
    return first.length;
  });
  return { first, nths };
}

const isAlike = (one: NewJob, other: NewJob): boolean =>
  one.name === other.name &&
  one.tenant === other.tenant &&
  one.app === other.app &&
  one.queue === other.queue &&
  one.rank === other.rank &&
  one.maxAttempts === other.maxAttempts &&
  one.delayMs === other.delayMs &&
  one.timeoutMs === other.timeoutMs &&
  one.uniqueForMs === other.uniqueForMs &&
  one.backoff.type === other.backoff.type &&
  one.backoff.delayMs === other.backoff.delayMs &&
  one.backoff.maxMs === other.backoff.maxMs &&
  one.tags.length === other.tags.length &&
  one.tags.every((tag, at) => tag === other.tags[at]);
