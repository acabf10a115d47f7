import type { PayloadFormat } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { Load, Rules } from './places.ts';
import { firstWindow } from './window.ts';

/** The lane of an endpoint that may have deliveries due. */
export interface AskedLane {
  readonly endpointId: string;
  /** The order key after which the look at an ordered endpoint goes on; empty for the beginning. */
  readonly after: string;
}

export interface ClaimRequest {
  readonly leaseId: string;
  /** Each once, those whose turn it is first. */
  readonly lanes: readonly AskedLane[];
  /** The most deliveries. */
  readonly count: number;
  readonly shares: Shares;
}

/** What keeps receivers that hang from taking all places: see `places.ts`. */
export interface Shares {
  /** The places that are left. */
  readonly left: number;
  /** What decides how many of them a tenant may have. */
  readonly rules: Rules;
  /** The most deliveries to unproven receivers. */
  readonly unproven: number;
  /** The most of them of one tenant, with those that it has in flight. */
  readonly unprovenOfTenant: number;
  readonly inFlight: ReadonlyMap<string, Load>;
}

/** How an endpoint wants its deliveries. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64 of the sealed headers; null without any. */
  readonly sealed_headers: string | null;
  /** Base64 of the sealed secrets: the current one first, then those that still sign. */
  readonly boxes: readonly string[];
  readonly payload_format: PayloadFormat;
  readonly max_concurrency: number;
  readonly timeout_ms: number;
  /** Whether another success would not change the lane's breaker, window and failures. */
  readonly is_healthy: boolean;
  /** Whether nothing says that the receiver works now: it has had no success since it began anew, or the last attempts failed. */
  readonly is_unproven: boolean;
  /** When the lane remembers the last success, in milliseconds since 1970; null for none. */
  readonly last_success_ms: number | null;
}

/** A delivery that this process may attempt now, with its event. */
export interface Claimed {
  readonly tenant_id: string;
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly attempt_count: number;
  readonly max_attempts: number;
  readonly lease_id: string;
  readonly turn: number;
  /** Null when the event is no longer kept. */
  readonly data: string | null;
  readonly event_created_at: string | null;
}

/** What was seen of a lane, and what was claimed of it. */
export interface ClaimedLane {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly target: Target;
  readonly deliveries: readonly Claimed[];
  /** Whether more deliveries may be due that only limits kept back. */
  readonly more: boolean;
  /** Whether the end of an attempt lets the next delivery of its key follow. */
  readonly follows: boolean;
  /** How many more attempts its window has room for. */
  readonly left: number;
  /** Milliseconds until the rate or a pause lets the next attempt start; null for no such limit. */
  readonly waitMs: number | null;
  /** Where the look at the order keys goes on; empty for the beginning. */
  readonly after: string;
}

/** By how much attempts may come early, in milliseconds: the bound is `rate × (w + 0.1) + 1` starts in w seconds. */
const toleranceMs = 100;
/** The most order keys that one look at an ordered endpoint passes, and the most due deliveries that it passes for those without a key. */
const mostPassed = 2_000;
/** How long a probe may take until another one is sent, besides the endpoint's own time limit: its process may be gone. */
const probeGraceMs = 10_000;

type Row = { readonly lane: Look; readonly target: Target | null } & (Claimed | { readonly id: null });
interface Look {
  readonly endpoint_id: string;
  readonly tenant_id: string;
  readonly more: boolean;
  readonly follows: boolean;
  readonly left: number;
  readonly wait_ms: number | null;
  readonly after: string | null;
}

/**
 * Claims due deliveries, each lane's within its limits. The locks on the lanes make claims of all processes follow each other lane by
 * lane; a lane that another claim has locked is left out, as is one of a deleted endpoint.
 */
export async function claim(sql: Sql, request: ClaimRequest): Promise<ClaimedLane[]> {
  const { leaseId } = request;
  const rows = await sql<Row[]>`
    with recursive ${lanes(sql, request)},
    ${due(sql)},
    ${taken(sql, request)},
    sums as (select endpoint_id, count(*)::integer as taken from taken group by endpoint_id),
    moved as (${move(sql)}),
    started as (
      update webhooks.delivery
      set state = 'delivering', lease_id = ${leaseId}, turn = turn + 1, updated_at = now()
      where ctid = any(array(select place from taken))
      returning tenant_id, id, endpoint_id, event_id, event_type, attempt_count, max_attempts, lease_id, turn, next_attempt_at
    ),
    sent as (select *, row_number() over (partition by endpoint_id order by next_attempt_at, id) as nth from started)
    select json_build_object(
        'endpoint_id', lane.endpoint_id,
        'tenant_id', lane.tenant_id,
        'more', found.found > coalesce(sums.taken, 0) or (not lane.is_blocked and found.found >= lane.quota) or found.passed,
        'follows', lane.ordered,
        'left', lane.width - coalesce(sums.taken, 0),
        'after', found.after,
        'wait_ms', ${waitMs(sql)}
      ) as lane,
      case when coalesce(sent.nth, 1) = 1 then ${target(sql)} end as target,
      sent.*, event.data, event.created_at as event_created_at
    from lane
    cross join lateral (
      select count(due.place) as found,
        coalesce((select passed from walk_end where walk_end.endpoint_id = lane.endpoint_id), false) as passed,
        (select after from walk_end where walk_end.endpoint_id = lane.endpoint_id) as after
      from due where due.endpoint_id = lane.endpoint_id
    ) as found
    left join sums on sums.endpoint_id = lane.endpoint_id
    left join sent on sent.endpoint_id = lane.endpoint_id
    left join lateral (
      -- The limit makes it a probe of the index for each, whatever the planner believes about the size of the table.
      select data::text, created_at from webhooks.event where tenant_id = sent.tenant_id and id = sent.event_id limit 1
    ) as event on true
    order by lane.ordinal, sent.nth`;
  return claimedLanes(rows);
}

/** The lanes with what their limits leave. A breaker whose cool-down is over lets one probe through. */
const lanes = (sql: Sql, { lanes, count }: ClaimRequest) => sql`
  asked as (
    select * from unnest(
      ${lanes.map(({ endpointId }) => endpointId)}::text[], ${lanes.map(({ after }) => after)}::text[]
    ) with ordinality as asked(endpoint_id, after, ordinal)
  ),
  locked as materialized (
    select own.*, asked.after, asked.ordinal
    from asked join webhooks.lane as own on own.endpoint_id = asked.endpoint_id
    order by asked.ordinal
    for update of own skip locked
  ),
  lane as materialized (
    select locked.endpoint_id, locked.tenant_id, locked.after, locked.ordinal, locked.breaker, locked.retry_at, locked.tat, locked.last_success_at,
      locked.consecutive_failures > 0 or locked.last_success_at is null
        or (locked.window_size <= ${firstWindow} and endpoint.max_concurrency > ${firstWindow}) as is_unproven,
      locked.breaker = 'closed' and locked.consecutive_failures = 0 and locked.failing_since is null and locked.openings = 0
        and locked.window_size >= endpoint.max_concurrency as is_healthy,
      endpoint.url, endpoint.headers, endpoint.sealed_headers, endpoint.payload_format, endpoint.max_concurrency, endpoint.timeout_ms,
      endpoint.rate_limit, endpoint.enabled, endpoint.ordered, is_blocked, width,
      case when is_blocked then 0 else greatest(0, least(
        width,
        ceil(${count}::float8 / ${lanes.length})::integer,
        case
          when endpoint.rate_limit = 0 then null
          when ahead_ms > ${toleranceMs} then 0
          else floor((${toleranceMs} - ahead_ms) * endpoint.rate_limit / 1000) + 1
        end
      )) end::integer as quota,
      case when endpoint.rate_limit > 0 and not is_blocked then ahead_ms end as ahead_ms
    from locked
    join webhooks.endpoint on endpoint.tenant_id = locked.tenant_id and endpoint.id = locked.endpoint_id and endpoint.deleted_at is null
    cross join lateral (
      select coalesce(locked.retry_at > statement_timestamp(), false) as is_blocked,
        extract(epoch from greatest(locked.tat, statement_timestamp()) - statement_timestamp())::float8 * 1000 as ahead_ms,
        case
          when locked.breaker <> 'closed' then 1
          else least(locked.window_size, endpoint.max_concurrency) - webhooks.in_flight(locked.endpoint_id)
        end::integer as width
    ) as moment
  )`;

/** The due deliveries of each lane within its limits, in their order, locked. Those that another statement has locked are passed over. */
const due = (sql: Sql) => sql`
  ${heads(sql)},
  due as materialized (
    select lane.endpoint_id, lane.ordinal, lane.tenant_id, lane.is_unproven, pick.place, row_number() over (partition by lane.endpoint_id) as nth
    from lane cross join lateral (
      select ctid as place from webhooks.delivery as own
      where lane.enabled and not lane.ordered and ${isDue(sql)}
      order by next_attempt_at, id limit lane.quota for update skip locked
    ) as pick
    union all
    select lane.endpoint_id, lane.ordinal, lane.tenant_id, lane.is_unproven, pick.place, row_number() over (partition by lane.endpoint_id)
    from lane cross join lateral (
      select ctid as place from webhooks.delivery as own
      where not lane.enabled and ${isDue(sql)} and test
      order by next_attempt_at, id limit lane.quota for update skip locked
    ) as pick
    union all
    select head.endpoint_id, lane.ordinal, lane.tenant_id, lane.is_unproven, pick.place, row_number() over (partition by head.endpoint_id)
    from head join lane on lane.endpoint_id = head.endpoint_id cross join lateral (
      select ctid as place from webhooks.delivery as own
      where own.tenant_id = head.tenant_id and own.id = head.id and ${isDue(sql)}
      for update skip locked
    ) as pick
  )`;

const isDue = (sql: Sql) => sql`
  own.endpoint_id = lane.endpoint_id and own.state = 'pending' and own.next_attempt_at <= statement_timestamp()`;

/**
 * Of each key of an ordered endpoint the delivery with the lowest number, by jumps through the index: the cost is that of the keys that
 * are passed, whatever waits behind them. The walk ends when it has found as many due ones as the lane may start.
 */
const heads = (sql: Sql) => sql`
  walk as (
    select lane.endpoint_id, lane.tenant_id, lane.after collate "C" as order_key, null::text collate "C" as id, 0 as seen, 0 as ready, lane.quota, false as is_ready,
      lane.after as began
    from lane where lane.enabled and lane.ordered and lane.quota > 0
    union all
    select walk.endpoint_id, walk.tenant_id, next.order_key, next.id, walk.seen + 1, walk.ready + next.is_ready::integer, walk.quota, next.is_ready,
      walk.began
    from walk cross join lateral (
      select order_key, id, state = 'pending' and next_attempt_at <= statement_timestamp() as is_ready from webhooks.delivery
      where endpoint_id = walk.endpoint_id and order_key > walk.order_key
      order by endpoint_id, order_key, order_number limit 1
    ) as next
    where walk.seen < ${mostPassed} and walk.ready < walk.quota
  ),
  head as materialized (
    select endpoint_id, tenant_id, id from walk where is_ready
    union all
    select lane.endpoint_id, lane.tenant_id, free.id from lane cross join lateral (
      select id from (
        select own.id, own.order_key from webhooks.delivery as own
        where lane.enabled and lane.ordered and ${isDue(sql)} order by next_attempt_at, id limit ${mostPassed}
      ) as passed where order_key is null limit lane.quota
    ) as free
  ),
  walk_end as materialized (
    select distinct on (endpoint_id) endpoint_id,
      seen >= ${mostPassed} or ready >= quota or began <> '' as passed,
      case when seen >= ${mostPassed} or ready >= quota then order_key else '' end as after
    from walk order by endpoint_id, seen desc
  )`;

/**
 * Those of the due deliveries that the shares allow. Each is judged as if all before it were taken; what is left out for that although
 * it would fit comes with a later claim, since the first one of a tenant with a place left is never left out.
 */
const taken = (sql: Sql, { count, shares }: ClaimRequest) => sql`
  ${inFlight(sql, shares)},
  of_tenants as (
    select due.*, coalesce(in_flight.places, 0) as places, coalesce(in_flight.unproven, 0) as unproven,
      row_number() over (partition by due.is_unproven, due.tenant_id order by due.nth, due.ordinal) as of_tenant
    from due left join in_flight on in_flight.tenant_id = due.tenant_id
  ),
  of_kinds as (
    select of_tenants.*, row_number() over (partition by is_unproven order by nth, ordinal) as of_kind from of_tenants
    where ${mayTake(sql, shares, sql`places`, sql`${shares.left}::integer`)}
      and (not is_unproven or of_tenant + unproven <= ${shares.unprovenOfTenant})
  ),
  in_turn as (
    select place, endpoint_id, places, row_number() over in_order as rank,
      row_number() over (partition by tenant_id order by nth, ordinal) as of_tenant
    from of_kinds
    where not is_unproven or of_kind <= ${shares.unproven}
    window in_order as (order by nth, ordinal)
  ),
  taken as materialized (
    select place, endpoint_id from in_turn
    where ${mayTake(sql, shares, sql`(places + of_tenant - 1)`, sql`(${shares.left}::integer - (rank - 1))`)}
    order by rank limit ${count}
  )`;

type Fragment = ReturnType<Sql>;

/** Whether a tenant with so many places may take one of those that are left: the rule of `places.ts`. */
const mayTake = (
  sql: Sql,
  { rules: { reserve, perFree, partOfRest } }: Shares,
  taken: Fragment,
  left: Fragment,
) => sql`(
  ${taken} < ${perFree}::integer * (${left} - ${reserve}::integer)
  or ${taken} * ${1 - partOfRest}::float8 < ${left} * ${partOfRest}::float8
)`;

const inFlight = (sql: Sql, { inFlight }: Shares) => {
  const loads = [...inFlight.values()];
  return sql`
    in_flight as (
      select * from unnest(
        ${[...inFlight.keys()]}::text[], ${loads.map(({ places }) => places)}::integer[], ${loads.map(({ unproven }) => unproven)}::integer[]
      ) as in_flight(tenant_id, places, unproven)
    )`;
};

/** Starts count for the rate at once, and a probe keeps others away until it has ended. */
const move = (sql: Sql) => sql`
  update webhooks.lane
  set tat = case
      when lane_now.rate_limit = 0 then lane.tat
      else greatest(lane.tat, statement_timestamp()) + sums.taken * interval '1 second' / lane_now.rate_limit
    end,
    breaker = case when lane.breaker = 'open' then 'half_open' else lane.breaker end,
    retry_at = case
      when lane.breaker = 'closed' then lane.retry_at
      else statement_timestamp() + (lane_now.timeout_ms + ${probeGraceMs}::integer) * interval '1 millisecond'
    end
  from sums join lane as lane_now on lane_now.endpoint_id = sums.endpoint_id
  where lane.endpoint_id = sums.endpoint_id and (lane_now.rate_limit > 0 or lane.breaker <> 'closed')`;

const waitMs = (sql: Sql) => sql`
  case
    when lane.is_blocked then extract(epoch from lane.retry_at - statement_timestamp())::float8 * 1000
    when lane.rate_limit > 0
      then greatest(0, lane.ahead_ms + coalesce(sums.taken, 0) * 1000.0 / lane.rate_limit - ${toleranceMs}::float8)
  end`;

const target = (sql: Sql) => sql`
  json_build_object(
    'url', lane.url, 'headers', lane.headers, 'sealed_headers', encode(lane.sealed_headers, 'base64'), 'payload_format', lane.payload_format,
    'max_concurrency', lane.max_concurrency, 'timeout_ms', lane.timeout_ms, 'is_healthy', lane.is_healthy, 'is_unproven', lane.is_unproven,
    'last_success_ms', floor(extract(epoch from lane.last_success_at) * 1000),
    'boxes', array(
      select encode(box, 'base64') from webhooks.endpoint_secret as secret
      where secret.tenant_id = lane.tenant_id and secret.endpoint_id = lane.endpoint_id
        and (valid_until is null or valid_until > statement_timestamp())
      order by valid_until is null desc, created_at desc
    )
  )`;

/** The rows of a lane follow each other; the first one tells of the lane. */
function claimedLanes(rows: readonly Row[]): ClaimedLane[] {
  const lanes: (ClaimedLane & { readonly deliveries: Claimed[] })[] = [];
  for (const { lane, target, ...row } of rows) {
    if (target !== null)
      lanes.push({
        endpointId: lane.endpoint_id,
        tenantId: lane.tenant_id,
        target,
        deliveries: [],
        more: lane.more,
        follows: lane.follows,
        left: lane.left,
        waitMs: lane.wait_ms,
        after: lane.after ?? '',
      });
    if (row.id !== null) lanes.at(-1)!.deliveries.push(row);
  }
  return lanes;
}
