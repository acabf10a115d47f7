import type { Event } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { patternsOf } from '../../../delivery/event-patterns.ts';
import { eventColumns } from './events.store.ts';

/** An event that may be stored. */
export interface NewEvent {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly type: string;
  /** JSON, as it will be signed and sent. */
  readonly data: string;
  readonly idempotency_key: string | null;
  readonly order_key: string | null;
  readonly channels: readonly string[];
  readonly created_at: Date;
  /** The hash of the schema that the data satisfy; null without one. */
  readonly schema_hash: string | null;
  /** Whether the platform itself sends it, which needs no registration. */
  readonly is_platform: boolean;
}

/** A new event as it was stored. */
export interface StoredEvent {
  readonly id: string;
  readonly delivery_count: number;
  /** The endpoints that got deliveries. */
  readonly endpoint_ids: readonly string[];
}

/** What a statement made of events. */
export interface Accepted {
  readonly stored: readonly StoredEvent[];
  /** How many deliveries each event would have, at most, that did not fit into the statement, by its id. */
  readonly deferred: ReadonlyMap<string, number>;
}

/** The most deliveries of one statement, unless a single event has more. */
export const mostDeliveries = 2_000;

/** Every statement that accepts events. */
export const acceptStore = (sql: Sql) => ({
  /**
   * Stores events with their deliveries, as many as fit into one statement: of each tenant the first ones, and those of tenants with
   * few endpoints before the others. An event is missing in the result when its idempotency key is taken, when its type changed since
   * it was judged, or, with `again`, when it had been stored before. Keys are taken in their order, and then the numbers of order
   * keys in theirs, so that two statements do not wait for each other.
   */
  async insert(events: readonly NewEvent[], keyMs: number, again: boolean): Promise<Accepted> {
    const rows = await sql<(StoredEvent & { readonly width: number | null })[]>`
      with given as materialized (${given(sql, events)}),
      valid as materialized (
        select given.* from given
        left join webhooks.event_type as known on known.app_id = given.app_id and known.name = given.type
        where (is_platform
            or (known.name is not null and known.deprecated_at is null and known.schema_hash is not distinct from given.schema_hash))
          ${again ? sql`and not exists (select from webhooks.event where event.tenant_id = given.tenant_id and event.id = given.id)` : sql``}
      ),
      ${admission(sql, events)},
      ${keys(sql, keyMs)},
      ${matches(sql)},
      ${numbers(sql)},
      made as (${deliveries(sql)}),
      counted as materialized (
        select event_id, count(*) as deliveries, array_agg(endpoint_id) as endpoint_ids from matched group by event_id
      ),
      stored as (
        insert into webhooks.event
          (tenant_id, id, app_id, type, data, idempotency_key, order_key, channels, delivery_count, created_at)
        select tenant_id, id, app_id, type, data::json, idempotency_key, order_key, channels, coalesce(deliveries, 0), created_at
        from fresh left join counted on counted.event_id = fresh.id
        returning id, delivery_count
      )
      select stored.id, stored.delivery_count, coalesce(counted.endpoint_ids, '{}') as endpoint_ids, null::bigint as width
      from stored left join counted on counted.event_id = stored.id
      union all
      select id, 0, '{}', width from measured where not fits`;
    const deferred = rows.flatMap(({ id, width }) => (width === null ? [] : [[id, width] as const]));
    return { stored: rows.filter(({ width }) => width === null), deferred: new Map(deferred) };
  },

  /**
   * The events that exist in place of these: the event itself, or the one that holds its idempotency key. The result names the event that
   * was asked for as `asked_id`.
   */
  async existing(
    events: readonly Pick<NewEvent, 'tenant_id' | 'app_id' | 'id' | 'idempotency_key'>[],
  ): Promise<(Event & { readonly asked_id: string })[]> {
    return await sql<(Event & { asked_id: string })[]>`
      select asked.id as asked_id, ${eventColumns(sql, sql`event.`)}
      from unnest(
        ${events.map(({ tenant_id }) => tenant_id)}::text[], ${events.map(({ app_id }) => app_id)}::text[],
        ${events.map(({ id }) => id)}::text[], ${events.map(({ idempotency_key }) => idempotency_key)}::text[]
      ) as asked(tenant_id, app_id, id, key)
      left join webhooks.idempotency as held
        on held.tenant_id = asked.tenant_id and held.app_id = asked.app_id and held.key = asked.key and held.expires_at > now()
      join webhooks.event on event.tenant_id = asked.tenant_id and event.id = any(array[asked.id, held.event_id])`;
  },
});

/** Takes the idempotency keys, each for the first event with it. A key that has expired is free. */
const keys = (sql: Sql, keyMs: number) => sql`
  held as (
    insert into webhooks.idempotency as existing (tenant_id, app_id, key, event_id, expires_at)
    select distinct on (tenant_id, app_id, idempotency_key)
      tenant_id, app_id, idempotency_key, id, statement_timestamp() + ${keyMs} * interval '1 millisecond'
    from admitted
    where idempotency_key is not null
    order by tenant_id, app_id, idempotency_key, position
    on conflict on constraint idempotency_pkey do update
    set event_id = excluded.event_id, expires_at = excluded.expires_at
    where existing.expires_at <= statement_timestamp() or existing.event_id = excluded.event_id
    returning event_id
  ),
  fresh as materialized (
    select * from admitted where idempotency_key is null or id in (select event_id from held)
  )`;

/**
 * Admits events until they have too many deliveries together, by the number of subscriptions to their types. What waits of a tenant is
 * never overtaken by its later events.
 */
function admission(sql: Sql, events: readonly NewEvent[]) {
  const types = [...new Set(events.map(({ type }) => type))];
  const candidates = types.flatMap((type) => patternsOf(type).map((pattern) => [type, pattern] as const));
  return sql`
    candidate as (
      select * from unnest(
        ${candidates.map(([type]) => type)}::text[], ${candidates.map(([, pattern]) => pattern)}::text[]
      ) as candidate(type, pattern)
    ),
    subscribed as materialized (
      select asked.tenant_id, asked.app_id, asked.type, count(*) as width
      from (select distinct tenant_id, app_id, type from valid) as asked
      join candidate on candidate.type = asked.type
      cross join lateral (
        select from webhooks.subscription as held
        where held.tenant_id = asked.tenant_id and held.app_id = asked.app_id and held.pattern = candidate.pattern
        offset 0
      ) as found
      group by asked.tenant_id, asked.app_id, asked.type
    ),
    sized as (
      select valid.*, coalesce(width, 0) as width, max(coalesce(width, 0)) over (partition by tenant_id, app_id) as widest
      from valid left join subscribed using (tenant_id, app_id, type)
    ),
    measured as materialized (
      select *, sum(width) over before_it <= ${mostDeliveries} or row_number() over before_it = 1 as fits
      from sized window before_it as (order by widest, tenant_id, app_id, position)
    ),
    admitted as materialized (select * from measured where fits)`;
}

/** Finds the endpoints by the patterns that can match: each is a probe of an index, however many endpoints there are. */
const matches = (sql: Sql) => sql`
    matched as materialized (
      select distinct fresh.id as event_id, fresh.tenant_id, fresh.app_id, fresh.type, fresh.position, fresh.created_at,
        endpoint.id as endpoint_id, endpoint.max_attempts, case when endpoint.ordered then fresh.order_key end as order_key
      from fresh
      join candidate on candidate.type = fresh.type
      -- Each is planned for itself: after many new subscriptions the planner does not know yet how many there are, and a join of the
      -- tables would compare all endpoints with all patterns of the tenant.
      cross join lateral (
        select endpoint_id from webhooks.subscription as held
        where held.tenant_id = fresh.tenant_id and held.app_id = fresh.app_id and held.pattern = candidate.pattern
        offset 0
      ) as found
      cross join lateral (
        select * from webhooks.endpoint where endpoint.tenant_id = fresh.tenant_id and endpoint.id = found.endpoint_id limit 1
      ) as endpoint
      where endpoint.enabled and endpoint.deleted_at is null
        and (endpoint.channels = '{}' or endpoint.channels && fresh.channels)
    )`;

/** Numbers the events of each order key that reach an ordered endpoint. The lock on the key's row makes the numbers follow the commits. */
const numbers = (sql: Sql) => sql`
  in_order as (
    select distinct event_id, tenant_id, app_id, order_key, position from matched where order_key is not null
  ),
  head as (
    insert into webhooks.order_head as existing (tenant_id, app_id, order_key, number)
    select tenant_id, app_id, order_key, count(*) from in_order
    group by tenant_id, app_id, order_key
    order by tenant_id, app_id, order_key
    on conflict on constraint order_head_pkey do update set number = existing.number + excluded.number, used_at = now()
    returning tenant_id, app_id, order_key, number
  ),
  numbered as (
    select event_id, number + 1 - row_number() over (
      partition by tenant_id, app_id, order_key order by position desc
    ) as number
    from in_order join head using (tenant_id, app_id, order_key)
  )`;

/**
 * One delivery for each match. Its id is a TypeID with the time of the event, and the rest of it is a hash: to make it anywhere else would
 * take the matches out of the statement and back into it.
 */
const deliveries = (sql: Sql) => sql`
  insert into webhooks.delivery
    (tenant_id, id, app_id, event_id, endpoint_id, event_type, max_attempts, order_key, order_number, created_at, updated_at)
  select tenant_id,
    'del_' || substr(event_id, 5, 10) || 'e' || substr(hash, 1, 2) || translate(substr(hash, 3, 1), '01234567cdef', '89ab89ab89ab')
      || substr(hash, 4, 12),
    app_id, event_id, endpoint_id, type, max_attempts, order_key, case when order_key is not null then number end, created_at, created_at
  from matched
  left join numbered using (event_id)
  cross join lateral (select md5(event_id || endpoint_id) as hash) as hashed`;

/** New events as rows. */
function given(sql: Sql, events: readonly NewEvent[]) {
  const of = <Value>(value: (event: NewEvent) => Value) => events.map(value);
  return sql`
    select tenant_id, id, app_id, type, data, idempotency_key, order_key,
      case when channels = '[]' then '{}' else array(select json_array_elements_text(channels::json)) end as channels,
      created_at, schema_hash, is_platform, position
    from unnest(
      ${of(({ tenant_id }) => tenant_id)}::text[], ${of(({ id }) => id)}::text[], ${of(({ app_id }) => app_id)}::text[],
      ${of(({ type }) => type)}::text[], ${of(({ data }) => data)}::text[],
      ${of(({ idempotency_key }) => idempotency_key)}::text[], ${of(({ order_key }) => order_key)}::text[],
      ${of(({ channels }) => JSON.stringify(channels))}::text[],
      ${of(({ created_at }) => created_at.toISOString())}::timestamptz[],
      ${of(({ schema_hash }) => schema_hash)}::text[], ${of(({ is_platform }) => String(is_platform))}::text[]::boolean[]
    ) with ordinality as event(
      tenant_id, id, app_id, type, data, idempotency_key, order_key, channels, created_at, schema_hash, is_platform, position
    )`;
}
