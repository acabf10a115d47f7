import type { Sql } from '../../../db/index.ts';
import type { Breaker } from '../../../delivery/breaker.ts';
import type { Lane } from './lanes.ts';

/** A lane with what its endpoint says, locked. */
export interface LockedLane extends Lane {
  readonly endpoint_id: string;
  readonly max_concurrency: number;
  /** The time of the database. */
  readonly now: number;
}

export type LaneChange = Lane & { readonly endpoint_id: string };

/** What a look for due deliveries found. */
export interface Found {
  /** The endpoints that have deliveries due and may be sent to. */
  readonly due: readonly string[];
  /** Milliseconds until the first of the others; null when there is none. */
  readonly waitMs: number | null;
}

/** The most lanes of one look. */
const mostLanes = 20_000;

/** Every statement about lanes that is not a claim. */
export const laneStore = (sql: Sql) => ({
  /** Creates the lanes of these endpoints that have none. */
  async create(endpointIds: readonly string[]): Promise<void> {
    await sql`
      insert into webhooks.lane (endpoint_id, tenant_id)
      select id, tenant_id from webhooks.endpoint where id = any(${[...endpointIds]}::text[]) and deleted_at is null
      order by id
      on conflict on constraint lane_pkey do nothing`;
  },

  /** Finds lanes with due deliveries by jumps through the index: the cost is that of the lanes, whatever waits in them. */
  async due(): Promise<Found> {
    const [row] = await sql<[{ due: string[] | null; wait_ms: number | null }]>`
      with recursive first as (
        (select endpoint_id, tenant_id, next_attempt_at, 1 as seen from webhooks.delivery
         where state = 'pending' order by endpoint_id, next_attempt_at, id limit 1)
        union all
        select next.*, first.seen + 1 from first cross join lateral (
          select endpoint_id, tenant_id, next_attempt_at from webhooks.delivery
          where state = 'pending' and endpoint_id > first.endpoint_id order by endpoint_id, next_attempt_at, id limit 1
        ) as next
        where first.seen < ${mostLanes}
      ),
      lane as (
        select first.endpoint_id, greatest(
          case when endpoint.enabled then first.next_attempt_at else (
            select next_attempt_at from webhooks.delivery where endpoint_id = first.endpoint_id and test and state = 'pending'
            order by next_attempt_at, id limit 1
          ) end,
          lane.retry_at
        ) as at
        from first
        join webhooks.endpoint on endpoint.tenant_id = first.tenant_id and endpoint.id = first.endpoint_id and endpoint.deleted_at is null
        left join webhooks.lane on lane.endpoint_id = first.endpoint_id
      )
      select array_agg(endpoint_id) filter (where at <= statement_timestamp()) as due,
        (extract(epoch from min(at) filter (where at > statement_timestamp()) - statement_timestamp()) * 1000)::float8 as wait_ms
      from lane`;
    return { due: row.due ?? [], waitMs: row.wait_ms };
  },

  /** Locks lanes, in the order of their ids, until the end of the transaction. */
  async lock(endpointIds: readonly string[]): Promise<LockedLane[]> {
    return await sql<LockedLane[]>`
      select lane.endpoint_id, lane.window_size, lane.consecutive_failures, lane.breaker, lane.openings,
        ${ms(sql, 'failing_since')}, ${ms(sql, 'last_success_at')}, ${ms(sql, 'retry_at')},
        endpoint.max_concurrency, floor(extract(epoch from statement_timestamp()) * 1000)::float8 as now
      from webhooks.lane join webhooks.endpoint on endpoint.tenant_id = lane.tenant_id and endpoint.id = lane.endpoint_id
      where lane.endpoint_id = any(${[...endpointIds]}::text[])
      order by lane.endpoint_id
      for update of lane`;
  },

  async update(changes: readonly LaneChange[]): Promise<void> {
    const column = <Value>(of: (lane: LaneChange) => Value) => changes.map(of);
    const time = (of: (lane: LaneChange) => number | null) =>
      column((lane) => {
        const at = of(lane);
        return at === null ? null : new Date(at).toISOString();
      });
    await sql`
      update webhooks.lane
      set window_size = given.window_size, consecutive_failures = given.failures, breaker = given.breaker, openings = given.openings,
        failing_since = given.failing_since, last_success_at = given.last_success_at, retry_at = given.retry_at
      from unnest(
        ${column(({ endpoint_id }) => endpoint_id)}::text[], ${column(({ window_size }) => window_size)}::integer[],
        ${column(({ consecutive_failures }) => consecutive_failures)}::integer[],
        ${column(({ breaker }) => breaker)}::text[], ${column(({ openings }) => openings)}::integer[],
        ${time(({ failing_since }) => failing_since)}::timestamptz[], ${time(({ last_success_at }) => last_success_at)}::timestamptz[],
        ${time(({ retry_at }) => retry_at)}::timestamptz[]
      ) as given(endpoint_id, window_size, failures, breaker, openings, failing_since, last_success_at, retry_at)
      where lane.endpoint_id = given.endpoint_id`;
  },
});

type TimeColumn = 'failing_since' | 'last_success_at' | keyof Pick<Breaker, 'retry_at'>;
const ms = (sql: Sql, column: TimeColumn) =>
  sql`floor(extract(epoch from lane.${sql(column)}) * 1000)::float8 as ${sql(column)}`;
