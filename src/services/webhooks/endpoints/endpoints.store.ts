import type { DisabledReason, Endpoint, PayloadFormat } from '../../../../generated/webhooks/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { formatDuration } from '../../../lib/durations.ts';
import { NotFound } from '../../../lib/errors.ts';
import { firstWindow } from '../dispatch/window.ts';
import { UidTaken } from '../errors.ts';
import type { newestById } from '../newest-by-id.ts';
import type { EndpointTerms } from './endpoint-terms.ts';
import { healthOf, type LaneState } from './health.ts';

/** Which endpoints a request reaches: by id those in its view, by `uid` those of the caller's own tenant. */
export interface Reach {
  readonly view: View;
  readonly tenant: string;
}

/** The headers of an endpoint as they are stored. */
interface Headers {
  readonly headers: Readonly<Record<string, string>>;
  readonly sealed_headers: Buffer | null;
}

interface Owner {
  readonly tenant_id: string;
  readonly id: string;
}

export interface NewEndpoint extends EndpointTerms, Headers, Owner {
  readonly app_id: string;
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
}

export type EndpointChange = Partial<EndpointTerms & Headers>;

/** An endpoint that a write has locked. */
export type LockedEndpoint = NewEndpoint;

/** Every statement about endpoints and their subscriptions. */
export const endpointStore = (sql: Sql) => ({
  /** Takes one of the places of a tenant. Returns false when none is left. */
  async reserve(tenant: string, most: number): Promise<boolean> {
    const { count } = await sql`
      insert into webhooks.endpoint_count as counted (tenant_id, endpoints) values (${tenant}, 1)
      on conflict on constraint endpoint_count_pkey do update set endpoints = counted.endpoints + 1
      where counted.endpoints < ${most}`;
    return count > 0;
  },

  async insert(endpoint: NewEndpoint): Promise<void> {
    await constrained(taken(endpoint.uid), sql`insert into webhooks.endpoint ${sql(endpoint)}`);
  },

  async get({ view, tenant }: Reach, ref: string): Promise<Endpoint> {
    const [row] = await sql<Row[]>`
      select ${columns(sql)} from ${withLanes(sql)} where ${isNamed(sql, { view, tenant }, ref)}`;
    if (!row) throw NotFound('endpoint');
    return endpointOf(row);
  },

  /** Returns endpoints newest first, and one more than `limit` when more follow. */
  async list(
    view: View,
    enabled: boolean | undefined,
    window: Window<typeof newestById>,
  ): Promise<Endpoint[]> {
    const rows = await sql<Row[]>`
      select ${columns(sql)} from ${withLanes(sql)}
      where ${isInView(sql, view)} and deleted_at is null
        ${enabled === undefined ? sql`` : sql`and enabled = ${enabled}`} ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
    return rows.map(endpointOf);
  },

  /** Whose endpoint it is, and its id. */
  async owner(reach: Reach, ref: string): Promise<Owner> {
    const [owner] = await sql<Owner[]>`
      select tenant_id, id from webhooks.endpoint where ${isNamed(sql, reach, ref)}`;
    if (!owner) throw NotFound('endpoint');
    return owner;
  },

  /** Locks the endpoint for the rest of the transaction, and its lane before it, as those do who end attempts and disable endpoints. */
  async lock(reach: Reach, ref: string): Promise<LockedEndpoint> {
    await sql`
      select from webhooks.lane
      where endpoint_id in (select id from webhooks.endpoint where ${isNamed(sql, reach, ref)}) for update`;
    const [endpoint] = await sql<LockedEndpoint[]>`
      select tenant_id, id, app_id, uid, url, description, event_types, channels, ordered, headers, sealed_headers, rate_limit, metadata,
        enabled, disabled_reason, payload_format, max_concurrency, timeout_ms, max_attempts
      from webhooks.endpoint where ${isNamed(sql, reach, ref)} for update`;
    if (!endpoint) throw NotFound('endpoint');
    return endpoint;
  },

  /** An endpoint at another address begins without a past. */
  async update({ tenant_id, id }: Owner, change: EndpointChange): Promise<void> {
    await constrained(
      taken(change.uid),
      sql`
        ${change.url === undefined ? sql`` : sql`with renewed as (${renewedLane(sql, id)})`}
        update webhooks.endpoint set ${sql(change)}, updated_at = now()
        where tenant_id = ${tenant_id} and id = ${id}`,
    );
  },

  /** Enables an endpoint, and resets what its lane knows of failures. */
  async enable({ tenant_id, id }: Owner): Promise<void> {
    await sql`
      with renewed as (${renewedLane(sql, id)})
      update webhooks.endpoint set enabled = true, disabled_reason = null, updated_at = now()
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  async disable({ tenant_id, id }: Owner): Promise<void> {
    await sql`
      update webhooks.endpoint set enabled = false, disabled_reason = 'manual', updated_at = now()
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  /** Makes an endpoint unreachable, wipes what it kept secret and gives its place back. Its row stays until its deliveries are cancelled. */
  async delete({ tenant_id, id }: Owner): Promise<void> {
    await sql`
      with wiped as (
        delete from webhooks.endpoint_secret where tenant_id = ${tenant_id} and endpoint_id = ${id}
      ), returned as (
        update webhooks.endpoint_count set endpoints = endpoints - 1 where tenant_id = ${tenant_id}
      )
      update webhooks.endpoint set deleted_at = now(), updated_at = now(), headers = '{}', sealed_headers = null
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  /** Lets events of these patterns, and no others, find the endpoint. */
  async subscribe({ tenant_id, id }: Owner, app: string, patterns: readonly string[]): Promise<void> {
    await sql`
      with ended as (
        delete from webhooks.subscription
        where tenant_id = ${tenant_id} and endpoint_id = ${id} and pattern <> all(${[...patterns]}::text[])
      )
      insert into webhooks.subscription (tenant_id, app_id, pattern, endpoint_id)
      select ${tenant_id}, ${app}, pattern, ${id} from unnest(${[...patterns]}::text[]) as pattern
      on conflict on constraint subscription_pkey do nothing`;
  },
});

/** What a lane knows of failures counts no more, and its window begins to grow. */
const renewedLane = (sql: Sql, endpointId: string) => sql`
  update webhooks.lane
  set consecutive_failures = 0, failing_since = null, retry_at = null, breaker = 'closed', openings = 0, window_size = ${firstWindow}
  where endpoint_id = ${endpointId}`;

const taken = (uid: string | null | undefined) => ({ endpoint_uid: () => UidTaken(uid ?? '') });

/** An id begins with its prefix, and a `uid` never does. */
const isNamed = (sql: Sql, { view, tenant }: Reach, ref: string) => sql`
  deleted_at is null and
  ${
    ref.startsWith('ep_')
      ? sql`id = ${ref} and ${isInView(sql, view)}`
      : sql`uid = ${ref} and ${isInView(sql, { app: view.app, tenant })}`
  }`;

const withLanes = (sql: Sql) => sql`
  webhooks.endpoint left join lateral (
    select breaker, consecutive_failures, failing_since, retry_at, last_success_at
    from webhooks.lane where lane.endpoint_id = endpoint.id
  ) as lane on true`;

const columns = (sql: Sql) => sql`
  id, uid, tenant_id, app_id, url, description, event_types, channels, ordered, headers, rate_limit, metadata, enabled, disabled_reason,
  payload_format, max_concurrency, timeout_ms, max_attempts, created_at, updated_at,
  breaker, consecutive_failures, failing_since, retry_at, last_success_at, statement_timestamp() as now`;

interface Row extends Omit<Endpoint, 'health' | 'timeout'>, LaneState {
  readonly payload_format: PayloadFormat;
  readonly timeout_ms: number;
  readonly now: string;
}

function endpointOf(row: Row): Endpoint {
  const { breaker, consecutive_failures, failing_since, retry_at, last_success_at, now, ...endpoint } = row;
  const { timeout_ms, max_attempts, created_at, updated_at, ...terms } = endpoint;
  return {
    ...terms,
    timeout: formatDuration(timeout_ms),
    max_attempts,
    health: healthOf({ breaker, consecutive_failures, failing_since, retry_at, last_success_at }, now),
    created_at,
    updated_at,
  };
}
