import type { GroupBy } from '../../../../generated/audit/types.ts';
import type { Fragment, Sql } from '../../../db/index.ts';
import { byteArray } from '../byte-arrays.store.ts';
import { ofBoundedSize, type Sized } from '../../../db/large-rows.ts';
import { followsPrevious, orderedBy, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import { limits } from '../append/limits.ts';

/** An event as it is stored. */
export interface EventRow {
  readonly tenant_id: string;
  readonly stream_id: string;
  readonly sequence: number;
  readonly hash: Buffer;
  /** Of the event before it; 32 zero bytes for the first. */
  readonly prev_hash: Buffer;
  readonly id: string;
  readonly app_id: string;
  readonly timestamp: string;
  readonly recorded_at: string;
  readonly recorded_by: string;
  readonly source: string | null;
  readonly actor_type: string;
  readonly action: string;
  readonly resource: string;
  readonly category: string;
  readonly outcome: 'success' | 'failure' | 'denied';
  readonly severity: 'info' | 'warning' | 'critical';
  readonly salt: Buffer;
  readonly actor: Buffer;
  readonly content: Buffer;
  readonly actor_key: Buffer | null;
  readonly content_key: Buffer | null;
  readonly actor_ref: Buffer | null;
  readonly subject_ref: Buffer | null;
  readonly erasure_id: string | null;
}

/** An event with the keys of the persons to whom its parts belong, as they are stored; null when nobody owns a part, or was erased. */
export interface KeyedRow extends EventRow {
  readonly actor_sealed: Buffer | null;
  readonly subject_sealed: Buffer | null;
}

/** A stream in which events are looked for, and whom or what they must concern there: all places of a question ask for the same. */
export interface Place {
  readonly tenant: string;
  readonly app: string;
  readonly actorRef?: Buffer | undefined;
  readonly subjectRef?: Buffer | undefined;
  readonly resourceRef?: Buffer | undefined;
}

/** What events must have. Lists are alternatives. */
export interface EventFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly actions?: readonly string[] | undefined;
  readonly severities?: readonly string[] | undefined;
  readonly outcomes?: readonly string[] | undefined;
  readonly resource?: string | undefined;
}

/** The orders of lists of events. Sequences differ within a stream only. */
const columns = { timestamp: 'time', sequence: 'number', stream_id: 'string' } as const;
export const orders = {
  asc: { columns, direction: 'asc' },
  desc: { columns, direction: 'desc' },
} as const;
export type EventOrder = (typeof orders)['asc' | 'desc'];

/** The same within one stream, for which there is an index. */
const columnsInStream = { timestamp: 'time', sequence: 'number' } as const;
const ordersInStream = {
  asc: { columns: columnsInStream, direction: 'asc' },
  desc: { columns: columnsInStream, direction: 'desc' },
} as const;

/** The numbers of events. */
export interface Counts {
  readonly total: number;
  readonly severities: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly categories: Readonly<Record<string, number>>;
}

/** What `grouping` says of a group: a bit for each column that it does not have. */
const [bySeverity, byOutcome, byCategory] = [3, 5, 6];

/** The most bytes of the parts on a page, which are opened one by one. */
const mostBytes = 2 * 1_024 * 1_024;

/** A page of so few events cannot have more bytes, so that their sizes need not be added up. */
const fewEvents = Math.floor(mostBytes / limits.eventBytes);

/** Counting ends here, because an exact total of more would cost more than the page. */
const mostCounted = 100_000;

/** Every statement that reads events. */
export const eventStore = (sql: Sql) => ({
  /** @throws NotFound */
  async get(view: View, id: string): Promise<KeyedRow> {
    const [row] = await sql<KeyedRow[]>`
      select ${shown(sql)}, ${sealedKeys(sql)} from audit.events as event where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('event');
    return row;
  },

  /** Those of these events that exist, in any order. */
  async all(view: View, ids: readonly string[]): Promise<EventRow[]> {
    return await sql<EventRow[]>`
      select ${shown(sql)} from audit.events as event
      where id = any(${[...ids]}::text[]) and ${isInView(sql, view)}`;
  },

  /** One page of the events of these streams; it has one more than the limit when more follow. */
  async list(
    places: readonly Place[],
    filter: EventFilter,
    window: Window<EventOrder>,
  ): Promise<(KeyedRow & Sized)[]> {
    const [first, ...others] = places;
    if (first !== undefined && others.length === 0 && window.limit < fewEvents) {
      const { after, limit, offset } = window;
      const order = ordersInStream[window.order.direction];
      const rows = await sql<KeyedRow[]>`
        select ${shown(sql)}, ${sealedKeys(sql)} from audit.events as event
        where ${isAt(sql, first)} and ${isMatch(sql, filter)} ${followsPrevious(sql, { order, after }, 'event')}
        order by ${orderedBy(sql, order, 'event')} ${fewRows(sql, limit + 1)} ${offset === 0 ? sql`` : sql`offset ${offset}`}`;
      return rows.map((row) => Object.assign(row, { found: rows.length }));
    }
    const most = window.limit + 1 + window.offset;
    const page = sql`
        select found.* from ${given(sql, places)} cross join lateral (
          select event.* from audit.events as event
          where ${isFound(sql, places, filter)} ${followsPrevious(sql, window, 'event')}
          order by ${orderedBy(sql, window.order, 'event')} limit ${most}
        ) as found
        order by ${orderedBy(sql, window.order, 'found')} limit ${window.limit + 1} offset ${window.offset}`;
    const size = { of: sql`octet_length(actor) + octet_length(content)`, most: mostBytes };
    return await sql<(KeyedRow & Sized)[]>`
      select ${shown(sql)}, ${sealedKeys(sql)}, found from (${ofBoundedSize(sql, window.order, page, size)}) as event
      order by ${orderedBy(sql, window.order, 'event')}`;
  },

  /** Rows of a stream in its order, purged ones too. */
  async run(
    { id, tenant_id }: { readonly id: string; readonly tenant_id: string },
    from: number,
    to: number,
    most: number,
  ): Promise<(EventRow & { readonly run_id: string | null })[]> {
    return await sql<(EventRow & { readonly run_id: string | null })[]>`
      select ${shown(sql)}, run_id from audit.events as event
      where tenant_id = ${tenant_id} and stream_id = ${id} and sequence between ${from} and ${to}
      order by sequence limit ${most}`;
  },

  /** Events of a stream by their numbers, in their order. */
  async numbered(
    { id, tenant }: { readonly id: string; readonly tenant: string },
    sequences: readonly number[],
  ): Promise<KeyedRow[]> {
    return await sql<KeyedRow[]>`
      select ${shown(sql)}, ${sealedKeys(sql)} from audit.events as event
      where tenant_id = ${tenant} and stream_id = ${id} and sequence = any(${[...sequences]}::bigint[]) and id is not null
      order by sequence`;
  },

  /** The number of events, up to 100,000. */
  async count(places: readonly Place[], filter: EventFilter): Promise<number> {
    if (isEverything(places, filter)) return this.countAll(places);
    const [row] = await sql<[{ total: number }]>`
      select count(*)::integer as total from (
        select from ${given(sql, places)} cross join lateral (
          select from audit.events as event where ${isFound(sql, places, filter)} limit ${mostCounted}
        ) as found
        limit ${mostCounted}
      ) as counted`;
    return row.total;
  },

  /** The number of all events of these streams, up to 100,000, from their ends. */
  async countAll(places: readonly Place[]): Promise<number> {
    const [first, ...others] = places;
    if (first !== undefined && others.length === 0) {
      const [stream] = await sql<{ total: number }[]>`
        select least(head_seq - purged, ${mostCounted})::integer as total from audit.streams
        where tenant_id = ${first.tenant} and app_id = ${first.app}`;
      return stream?.total ?? 0;
    }
    const [row] = await sql<[{ total: number }]>`
      select least(coalesce(sum(head_seq - purged), 0), ${mostCounted})::integer as total
      from audit.streams join ${given(sql, places)} using (tenant_id, app_id)`;
    return row.total;
  },

  /** The numbers of events by severity, outcome and category, of which the most frequent ones are named. */
  async counts(view: View, filter: EventFilter, mostCategories: number): Promise<Counts> {
    const rows = await sql<{ by: number; name: string; count: number }[]>`
      with combined as materialized (
        -- Several processes of the database share a plain grouping, but none of sets.
        select severity, outcome, category, count(*) as count from audit.events as event
        where ${isInView(sql, view)} and ${isMatch(sql, filter)}
        group by 1, 2, 3
      ), counted as materialized (
        select grouping(severity, outcome, category) as by, coalesce(severity, outcome, category) as name, sum(count)::bigint as count
        from combined group by grouping sets ((severity), (outcome), (category))
      )
      select by, name, count from counted where by <> ${byCategory}
      union all
      (select by, name, count from counted where by = ${byCategory} order by count desc, name limit ${mostCategories})`;
    const group = (by: number) =>
      Object.fromEntries(rows.filter((row) => row.by === by).map(({ name, count }) => [name, count]));
    const severities = group(bySeverity);
    const total = Object.values(severities).reduce((sum, count) => sum + count, 0);
    return { total, severities, outcomes: group(byOutcome), categories: group(byCategory) };
  },

  /** The number of events by group, the largest first, and how many are in groups beyond those. */
  async groups(
    view: View,
    by: GroupBy,
    filter: EventFilter,
  ): Promise<{ buckets: { name: string; count: number }[]; other: number }> {
    const name = by === 'day' ? sql`to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD')` : sql`${sql(by)}`;
    const rows = await sql<{ name: string; count: number; total: number }[]>`
      select ${name} as name, count(*) as count, (sum(count(*)) over ())::bigint as total from audit.events as event
      where ${isInView(sql, view)} and ${isMatch(sql, filter)}
      group by 1 order by 2 desc, 1 limit 1000`;
    const buckets = rows.map(({ name, count }) => ({ name, count }));
    const shown = buckets.reduce((sum, { count }) => sum + count, 0);
    return { buckets, other: (rows[0]?.total ?? 0) - shown };
  },
});

/** Whether a question leaves no event out. */
const isEverything = (places: readonly Place[], filter: EventFilter): boolean =>
  places.every(
    ({ actorRef, subjectRef, resourceRef }) =>
      actorRef === undefined && subjectRef === undefined && resourceRef === undefined,
  ) && Object.values(filter).every((one: unknown) => one === undefined);

/** The hash of the event before it stands in the row before. */
const shown = (sql: Sql): Fragment => sql`
  tenant_id, stream_id, sequence, hash, id, app_id, timestamp, recorded_at, recorded_by, source, actor_type, action, resource, category,
  outcome, severity, salt, actor, content, actor_key, content_key, actor_ref, subject_ref, erasure_id,
  coalesce((
    select before.hash from audit.events as before
    where before.tenant_id = event.tenant_id and before.stream_id = event.stream_id and before.sequence = event.sequence - 1
  ), ${Buffer.alloc(32)}) as prev_hash`;

/**
 * Read together with the event, never kept: who was erased is erased at once in every process, and a page takes one round trip to the
 * database.
 */
const sealedKeys = (sql: Sql): Fragment => sql`
  (
    select wrapped from audit.subject_keys as held
    where held.tenant_id = event.tenant_id and held.app_id = event.app_id and held.ref = event.actor_ref
  ) as actor_sealed,
  (
    select wrapped from audit.subject_keys as held
    where held.tenant_id = event.tenant_id and held.app_id = event.app_id and held.ref = event.subject_ref
  ) as subject_sealed`;

/**
 * Limits a statement to few rows. The number is a part of the statement: with a parameter the database expects a tenth of all rows, and
 * plans the statement anew each time, which takes longer than executing it.
 */
const fewRows = (sql: Sql, rows: number): Fragment => sql`limit ${sql.unsafe(String(Math.trunc(rows)))}`;

/** Whether an event is at a place. */
const isAt = (sql: Sql, { tenant, app, actorRef, subjectRef, resourceRef }: Place): Fragment => sql`
  event.tenant_id = ${tenant} and event.app_id = ${app}
  ${actorRef === undefined ? sql`` : sql`and event.actor_ref = ${actorRef}`}
  ${subjectRef === undefined ? sql`` : sql`and event.subject_ref = ${subjectRef}`}
  ${resourceRef === undefined ? sql`` : sql`and event.resource_ref = ${resourceRef}`}`;

const given = (sql: Sql, places: readonly Place[]) => sql`
  unnest(
    ${places.map(({ tenant }) => tenant)}::text[], ${places.map(({ app }) => app)}::text[],
    ${byteArray(
      sql,
      places.map(({ actorRef }) => actorRef ?? null),
    )}::bytea[], ${byteArray(
      sql,
      places.map(({ subjectRef }) => subjectRef ?? null),
    )}::bytea[],
    ${byteArray(
      sql,
      places.map(({ resourceRef }) => resourceRef ?? null),
    )}::bytea[]
  ) as place(tenant_id, app_id, actor_ref, subject_ref, resource_ref)`;

/** What is not asked for is not part of the statement, so that each question finds its index. */
function isFound(sql: Sql, [place]: readonly Place[], filter: EventFilter): Fragment {
  const { actorRef, subjectRef, resourceRef } = place ?? {};
  return sql`
    event.tenant_id = place.tenant_id and event.app_id = place.app_id
    ${actorRef === undefined ? sql`` : sql`and event.actor_ref = place.actor_ref`}
    ${subjectRef === undefined ? sql`` : sql`and event.subject_ref = place.subject_ref`}
    ${resourceRef === undefined ? sql`` : sql`and event.resource_ref = place.resource_ref`}
    and ${isMatch(sql, filter)}`;
}

function isMatch(
  sql: Sql,
  { from, to, categories, actions, severities, outcomes, resource }: EventFilter,
): Fragment {
  const among = (column: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0
      ? sql``
      : sql`and ${sql(`event.${column}`)} = any(${[...values]}::text[])`;
  return sql`event.id is not null
    ${from === undefined ? sql`` : sql`and event.timestamp >= ${from}`}
    ${to === undefined ? sql`` : sql`and event.timestamp < ${to}`}
    ${isExceptional({ severities, outcomes }) ? sql`and (event.severity <> 'info' or event.outcome <> 'success')` : sql``}
    ${among('category', categories)} ${among('action', actions)} ${among('severity', severities)} ${among('outcome', outcomes)}
    ${resource === undefined ? sql`` : sql`and event.resource = ${resource}`}`;
}

/** Whether only exceptions match, for which there is an index. */
const isExceptional = ({ severities = ['info'], outcomes = ['success'] }: EventFilter): boolean =>
  !severities.includes('info') || !outcomes.includes('success');
