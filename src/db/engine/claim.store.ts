import type { Fragment } from 'postgres';
import { type Sql, timestamp } from '../sql.ts';
import type { Job } from './job.ts';
import type { Backoff } from './outcomes.ts';

/** A job that this process may execute now, with what its end needs. */
export interface ClaimedJob extends Job {
  /** The negative priority: the lowest comes first. */
  readonly rank: number;
  readonly lease_id: string;
  readonly turn: number;
  readonly timeout_ms: number;
  readonly backoff_type: Backoff['type'];
  readonly backoff_delay_ms: number;
  readonly backoff_max_ms: number;
}

/** A lane: the waiting jobs of one tenant that have one rank. */
interface Lane {
  readonly rank: number;
  readonly app_id: string;
  readonly tenant_id: string;
}

/** The lane after which the next claim begins, by rank. */
export type Cursor = ReadonlyMap<number, Lane>;

export interface ClaimRequest {
  readonly queue: string;
  readonly leaseId: string;
  /** The most jobs. */
  readonly count: number;
  readonly cursor: Cursor;
  /** Whose jobs are claimed; everybody's when absent. */
  readonly scope?: { readonly app: string; readonly tenant?: string | undefined } | undefined;
}

export interface Claim {
  /** In the order in which they should start. */
  readonly jobs: ClaimedJob[];
  readonly cursor: Cursor;
  /** Whether more jobs may be due. */
  readonly more: boolean;
  /** Milliseconds until a job that was seen becomes due, or until the limits allow another start; null when none is known. */
  readonly waitMs: number | null;
  /** Whether the queue has limits. Without a look at them nothing was claimed. */
  readonly limited: boolean;
}

/** The most lanes with due jobs of one claim and rank, from the cursor on. */
const lanesPerClaim = 64;
/** The most lanes that one claim and rank looks at: lanes without due jobs are passed over. */
const lanesPerLook = 1_000;
/** How far the rate of starts may run ahead, in milliseconds. */
const toleranceMs = 100;
/** Milliseconds until another try when the limits leave no room, unless the rate tells. */
const noRoomMs = 100;
/** Milliseconds until another try when another process is looking at the limits. */
const lockedMs = 5;

/** Keeps the transaction from planning its statements anew: planning a claim takes longer than executing it. */
export const reusePlans = (sql: Sql) => sql`select set_config('plan_cache_mode', 'force_generic_plan', true)`;

/** Claims jobs of a queue without limits. One statement, which takes no lock that another claim would wait for. */
export async function claim(sql: Sql, request: ClaimRequest): Promise<Claim> {
  const { queue, count, leaseId } = request;
  const rows = await sql<Row[]>`
    with recursive ${lanes(sql, request, sql`not exists (select from jobs.queue where name = ${queue} and ${isLimited(sql)})`)},
    taken as materialized (
      select pick.place, pick.id, due.ordinal, pick.position
      from (select * from due order by ordinal) as due
      cross join lateral (${dueJobs(sql, queue, sql`ceil(${count}::float8 / due.width)::integer`)}) as pick
      limit ${count}
    ),
    started as (${start(sql, leaseId)})
    ${answer(sql, sql`exists (select from jobs.queue where name = ${queue} and ${isLimited(sql)})`, sql`null::float8`)}`;
  return claimOf(rows, request);
}

/**
 * Claims jobs of a queue that has limits, in a transaction. The lock on the limits makes claims of all processes follow each other, so
 * the numbers of running jobs that this one reads are exact.
 */
export async function claimLimited(sql: Sql, request: ClaimRequest): Promise<Claim> {
  const { queue, leaseId, count } = request;
  const [rows] = await Promise.all([lockLimits(sql, queue), reusePlans(sql)]);
  const total = rows[0]?.total ?? 0;
  const nothing = { jobs: [], cursor: request.cursor, more: false, limited: true };
  if (rows.length < total) return { ...nothing, waitMs: lockedMs };
  // Without rows the limits were locked by another claim, or they are gone: a claim without limits tells.
  if (rows.length === 0) {
    const claimed = await claim(sql, request);
    return claimed.limited ? { ...claimed, waitMs: lockedMs } : claimed;
  }
  return claimOf(
    await sql<Row[]>`
      with recursive ${room(sql, queue)}, ${lanes(sql, request)},
      candidate as (
        select pick.place, pick.id, pick.position, due.ordinal, due.app_id, room.app_left, room.tenant_limit - coalesce(own.jobs, 0) as tenant_left,
          row_number() over (partition by due.app_id order by due.ordinal, pick.position) as of_app,
          row_number() over (partition by due.app_id, due.tenant_id order by due.ordinal, pick.position) as of_tenant
        from due
        left join room on room.app_id = due.app_id
        left join running as own on own.app_id = due.app_id and own.tenant_id = due.tenant_id
        cross join lateral (
          ${dueJobs(
            sql,
            queue,
            sql`greatest(0, least(ceil(${count}::float8 / due.width)::integer, room.app_left, room.tenant_limit - coalesce(own.jobs, 0)))`,
          )}
        ) as pick
      ),
      taken as materialized (
        select place, id, position, ordinal, app_id from candidate
        where of_app <= coalesce(app_left, of_app) and of_tenant <= coalesce(tenant_left, of_tenant)
        order by ordinal, of_tenant
        limit ${count}
      ),
      rated as (
        update jobs.queue
        set tat = greatest(tat, statement_timestamp()) + started.jobs * interval '1 second' / rate_limit
        from (select app_id, count(*) as jobs from taken group by app_id) as started
        where queue.name = ${queue} and queue.app_id = started.app_id and rate_limit > 0
      ),
      started as (${start(sql, leaseId)})
      ${answer(
        sql,
        sql`true`,
        sql`(
          select min(case when room.rate_ms > ${toleranceMs} then room.rate_ms - ${toleranceMs} else ${noRoomMs} end)
          from due join room on room.app_id = due.app_id where not room.paused
        )`,
      )}`,
    request,
  );
}

/** Locks the limits that no other claim has locked. Each row tells how many there are. */
const lockLimits = (sql: Sql, queue: string) => sql<{ total: number }[]>`
  select (select count(*)::integer from jobs.queue where name = ${queue}) as total
  from jobs.queue where name = ${queue} order by app_id for update skip locked`;

/** Which of these queues have waiting jobs, due or not. One statement, whatever the number of queues. */
export async function waitingQueues(sql: Sql, queues: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from unnest(${[...queues]}::text[]) as asked(name)
    where exists (select from jobs.job where queue = asked.name and state in ('pending', 'retrying'))`;
  return rows.map(({ name }) => name);
}

/** The jobs of a queue that wait; the expression is that of the index. */
const isWaiting = (sql: Sql, queue: string) => sql`queue = ${queue} and state in ('pending', 'retrying')`;
const isLimited = (sql: Sql) =>
  sql`(paused or max_concurrency > 0 or tenant_concurrency > 0 or rate_limit > 0)`;

/** What the limits of each app leave: starts by concurrency and rate. Null is no limit. */
const room = (sql: Sql, queue: string) => sql`
  running as materialized (
    select app_id, tenant_id, count(*)::integer as jobs from jobs.job where queue = ${queue} and state = 'running'
    group by app_id, tenant_id
  ),
  room as materialized (
    select app_id, paused, nullif(tenant_concurrency, 0) as tenant_limit, rate_ms,
      case when paused then 0 else least(
        nullif(max_concurrency, 0) - (select coalesce(sum(jobs), 0) from running where running.app_id = limits.app_id),
        case
          when rate_limit = 0 then null
          when rate_ms > ${toleranceMs} then 0
          else floor((${toleranceMs} - rate_ms) * rate_limit / 1000) + 1
        end
      )::integer end as app_left
    from jobs.queue as limits,
      lateral (select extract(epoch from greatest(tat, statement_timestamp()) - statement_timestamp()) * 1000 as rate_ms) as rate
    where name = ${queue}
  )`;

/**
 * The lanes of a claim, by jumps through the index: the ranks that have waiting jobs, and for each the lanes after the cursor, then
 * those before it. `due` are the lanes with due jobs in the order of their turns. The cost does not depend on the backlog.
 */
function lanes(sql: Sql, { queue, cursor, scope }: ClaimRequest, condition = sql`true`) {
  const waiting = sql`
    ${isWaiting(sql, queue)}
    ${scope === undefined ? sql`` : sql`and app_id = ${scope.app}`}
    ${scope?.tenant === undefined ? sql`` : sql`and tenant_id = ${scope.tenant}`}`;
  const known = [...cursor.values()];
  const jump = (from: Fragment, seen: Fragment, due: Fragment, upTo = sql``) => sql`(
    select app_id, tenant_id, run_at, ${seen} as seen, ${due} + (run_at <= statement_timestamp())::integer as due
    from jobs.job
    where ${waiting} and rank = ranks.rank and (app_id, tenant_id) > ${from} ${upTo}
    order by app_id, tenant_id, run_at limit 1
  )`;
  const walk = (from: Fragment, upTo = sql``) => sql`
    with recursive lane as (
      ${jump(from, sql`1`, sql`0`, upTo)}
      union all
      select next.* from lane cross join lateral ${jump(sql`(lane.app_id, lane.tenant_id)`, sql`lane.seen + 1`, sql`lane.due`, upTo)} as next
      where lane.seen < ${lanesPerLook} and lane.due < ${lanesPerClaim}
    ) select * from lane`;
  return sql`
    ranks as (
      (select rank from jobs.job where ${waiting} and ${condition} order by rank limit 1)
      union all
      select (select rank from jobs.job where ${waiting} and rank > ranks.rank order by rank limit 1)
      from ranks where ranks.rank is not null
    ),
    seen as materialized (
      select ranks.rank, walked.*, row_number() over (partition by ranks.rank order by walked.pass, walked.seen) as turn
      from ranks
      left join unnest(
        ${known.map(({ rank }) => rank)}::integer[], ${known.map(({ app_id }) => app_id)}::text[],
        ${known.map(({ tenant_id }) => tenant_id)}::text[]
      ) as cursor(rank, app_id, tenant_id) on cursor.rank = ranks.rank
      cross join lateral (
        select 1 as pass, * from (${walk(sql`(coalesce(cursor.app_id, ''), coalesce(cursor.tenant_id, ''))`)}) as after
        union all
        select 2 as pass, * from (${walk(sql`('', '')`, sql`and (app_id, tenant_id) <= (cursor.app_id, cursor.tenant_id)`)}) as before
      ) as walked
      where ranks.rank is not null
    ),
    due as materialized (
      select rank, app_id, tenant_id, row_number() over (order by rank, turn) as ordinal, count(*) over (partition by rank) as width
      from seen where run_at <= statement_timestamp()
    )`;
}

/** The due jobs of a lane, in their order, locked. Those that another claim has locked are passed over. */
const dueJobs = (sql: Sql, queue: string, most: Fragment) => sql`
  select locked.place, locked.id, row_number() over () as position
  from (
    select ctid as place, id from jobs.job
    where ${isWaiting(sql, queue)} and rank = due.rank and app_id = due.app_id and tenant_id = due.tenant_id
      and run_at <= statement_timestamp()
    order by run_at, id
    limit ${most}
    for update skip locked
  ) as locked`;

/**
 * Starts the jobs that were taken. Their places are given as an array: for a join, the planner may read the whole table instead, because
 * it cannot know how few they are.
 */
const start = (sql: Sql, leaseId: string) => sql`
  update jobs.job
  set state = 'running', lease_id = ${leaseId}, started_at = statement_timestamp(), attempt = attempt + 1, turn = turn + 1
  where ctid = any(array(select place from taken))
  returning id, json_build_array(${sql(members)}) as members`;

/** The members of a claimed job that the claim does not know, in the order in which it returns them. */
const members = [
  'id',
  'tenant_id',
  'app_id',
  'name',
  'payload',
  'tags',
  'attempt',
  'max_attempts',
  'lost_count',
  'run_at',
  'started_at',
  'origin_id',
  'turn',
  'timeout_ms',
  'backoff_type',
  'backoff_delay_ms',
  'backoff_max_ms',
  'rank',
] as const;

/** What was seen, in a column of its own row. */
interface Look {
  readonly limited: boolean;
  /** Milliseconds until the first of the delayed lanes is due. */
  readonly due_in: number | null;
  readonly room_in: number | null;
  /** For each rank the lane that was seen last, the lane whose turn was last, and whether lanes were left out. */
  readonly ranks: readonly (Lane & { readonly cut: boolean; readonly width: number })[];
}

/** The first row says what was seen; it has no job when none was claimed. */
type Row = { readonly look: Look | null } & (Started | { readonly members: null });

interface Started {
  /** One array of JSON: to decode a column for each member would take longer than to claim. */
  readonly members: readonly unknown[];
  readonly ordinal: number;
  readonly position: number;
}

const answer = (sql: Sql, limited: Fragment, roomIn: Fragment) => sql`
  select started.members, taken.ordinal, taken.position, case when row_number() over () = 1 then look.look end as look
  from (select json_build_object(
    'limited', ${limited},
    'due_in', (
      select extract(epoch from min(run_at) - statement_timestamp()) * 1000 from seen where run_at > statement_timestamp()
    ),
    'room_in', ${roomIn},
    'ranks', (
      select coalesce(json_agg(json_build_object(
        'rank', rank, 'app_id', app_id, 'tenant_id', tenant_id, 'cut', cut, 'width', width
      )), '[]')
      from (
        select distinct on (rank) rank, app_id, tenant_id,
          bool_or(seen >= ${lanesPerLook} or due >= ${lanesPerClaim}) over (partition by rank) as cut,
          count(*) filter (where run_at <= statement_timestamp()) over (partition by rank) as width
        from seen order by rank, turn desc
      ) as last
    )
  ) as look) as look
  left join (started join taken on taken.id = started.id) on true`;

/** Sorts the rows of a claim into jobs and what was seen beside them. */
function claimOf(rows: readonly Row[], request: ClaimRequest): Claim {
  const { count, cursor } = request;
  const started = rows.filter((row): row is Started & { look: Look | null } => row.members !== null);
  const { limited, ranks, due_in, room_in } = rows.find(({ look }) => look !== null)!.look!;
  started.sort((one, other) => one.ordinal - other.ordinal || one.position - other.position);
  const jobs = started.map((row) => jobOf(row.members, request));
  const full = jobs.length >= count;
  const perLane = new Map<number, number>();
  for (const { ordinal } of started) perLane.set(ordinal, (perLane.get(ordinal) ?? 0) + 1);
  const quotas = new Map(ranks.map(({ rank, width }) => [rank, Math.ceil(count / Math.max(1, width))]));
  const usedUp = jobs.some(({ rank }, at) => perLane.get(started[at]!.ordinal)! >= quotas.get(rank)!);
  const blocked = jobs.length === 0 && ranks.some(({ width }) => width > 0);
  return {
    jobs,
    cursor: nextCursor(cursor, ranks, full ? jobs.at(-1) : undefined),
    more: full || usedUp || (!blocked && ranks.some(({ cut }) => cut)),
    // What is due but was not claimed is locked by another claim, unless the limits say more.
    waitMs: blocked && !limited ? lockedMs : (room_in ?? due_in),
    limited,
  };
}

function jobOf(values: readonly unknown[], { queue, leaseId }: ClaimRequest): ClaimedJob {
  const job: Record<string, unknown> = { queue, lease_id: leaseId };
  for (const [at, member] of members.entries()) job[member] = values[at];
  job['run_at'] = moment(job['run_at'] as string);
  job['started_at'] = moment(job['started_at'] as string);
  return job as unknown as ClaimedJob;
}

/** A moment as JSON has it, `2026-11-20T09:30:00.123456+00:00`, as all other moments are written. */
const moment = (text: string) => timestamp(text.replace('T', ' ').replace('+00:00', '+00'));

/** Each rank goes on after the lane that had its turn last. A claim that was full may have ended within a rank, before later ones. */
function nextCursor(cursor: Cursor, ranks: Look['ranks'], last: Lane | undefined): Cursor {
  const next = new Map<number, Lane>();
  for (const seen of ranks) {
    const place =
      last === undefined || seen.rank < last.rank
        ? seen
        : seen.rank === last.rank
          ? last
          : cursor.get(seen.rank);
    if (place !== undefined)
      next.set(seen.rank, { rank: seen.rank, app_id: place.app_id, tenant_id: place.tenant_id });
  }
  return next;
}
