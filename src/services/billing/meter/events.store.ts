import type { Metadata, UsageEventStatus } from '../../../../generated/billing/types.ts';
import type { Fragment, Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';
import { newId } from '../../../lib/ids.ts';
import { counted, onePage, type PageRequest, readPage } from '../pages.store.ts';

/** A usage event as it is stored. Times are texts, as in responses. */
export interface UsageRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly feature_key: string;
  /** Exact. */
  readonly quantity: string;
  readonly idempotency_key: string | null;
  readonly metadata: Metadata;
  readonly status: UsageEventStatus;
  readonly happened_at: string;
  readonly sent_timestamp: string | null;
  readonly accepted_at: string;
  readonly subscription_id: string | null;
  readonly period_start: string | null;
  readonly void_reason: string | null;
}

export interface UsageFilter {
  readonly feature_key?: string | undefined;
  readonly status?: UsageEventStatus | undefined;
  /** When the events happened, in milliseconds since 1970; the end is exclusive. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/** The longest late window that a server may have. */
const longestLateMs = 8_760 * 3_600_000;
/** How long after they have happened most events are accepted, and the condition for the others, for which there is an index. */
const soonMs = 3_600_000;
const isLate = (sql: Sql): Fragment => sql`(accepted_at - happened_at > interval '1 hour')`;

/** Every statement about single usage events. */
export const usageStore = (sql: Sql) => ({
  async list(view: View, { feature_key, status, start, end }: UsageFilter, page: PageRequest) {
    const rows = (more: Fragment) => sql`
      from billing.usage_event
      where ${isInView(sql, view)}
        ${feature_key === undefined ? sql`` : sql`and feature_key = ${feature_key}`}
        ${status === undefined ? sql`` : sql`and ${hasStatus(sql, status)}`}
        ${start === undefined ? sql`` : sql`and happened_at >= ${new Date(start)} and id >= ${firstIdAt(start)}`}
        ${more}`;
    if (end === undefined)
      return await readPage(
        sql<UsageRow[]>`select ${columns(sql)} ${rows(sql``)} ${onePage(sql, page)}`,
        counted(sql, rows(sql``)),
      );
    // Ids tell when events were accepted, and most are accepted soon after they have happened: so those that were accepted since the end
    // need not be looked at, apart from the others, which have an index of their own.
    const before = (latest: number) =>
      sql`and happened_at < ${new Date(end)} and id < ${firstIdAt(end + latest)}`;
    const soon = rows(sql`and not ${isLate(sql)} ${before(soonMs)}`);
    const late = rows(sql`and ${isLate(sql)} ${before(longestLateMs)}`);
    const first = (part: Fragment) => sql`
      (select ${columns(sql)} ${part} order by id desc limit ${page.offset + page.limit + 1})`;
    return await readPage(
      sql<UsageRow[]>`
        select ${columns(sql)} from (${first(soon)} union all ${first(late)}) as event ${onePage(sql, page)}`,
      counted(sql, sql`from (select 1 ${soon} union all select 1 ${late}) as event`),
    );
  },

  async find(view: View, id: string): Promise<UsageRow | undefined> {
    const [row] = await sql<UsageRow[]>`
      select ${columns(sql)} from billing.usage_event where ${isInView(sql, view)} and id = ${id}`;
    return row;
  },

  /** Events of an app, by their tenants and ids. */
  async findAll(app: string, wanted: readonly Pick<UsageRow, 'tenant_id' | 'id'>[]): Promise<UsageRow[]> {
    return await sql<UsageRow[]>`
      select ${columns(sql)}
      from unnest(${wanted.map(({ tenant_id }) => tenant_id)}::text[], ${wanted.map(({ id }) => id)}::text[]) as wanted(tenant_id, id)
      join billing.usage_event using (tenant_id, id)
      where app_id = ${app}`;
  },

  /** The events of a tenant that follow one, oldest first. */
  async following(
    { tenant_id, app_id }: Pick<UsageRow, 'tenant_id' | 'app_id'>,
    after: string,
    most: number,
  ): Promise<UsageRow[]> {
    return await sql<UsageRow[]>`
      select ${columns(sql)} from billing.usage_event
      where tenant_id = ${tenant_id} and app_id = ${app_id} and id > ${after} order by id limit ${most}`;
  },

  /** Locks an event until the end of the transaction, against being counted or voided meanwhile. */
  async lock(view: View, id: string): Promise<UsageRow | undefined> {
    const [row] = await sql<UsageRow[]>`
      select ${columns(sql)} from billing.usage_event where ${isInView(sql, view)} and id = ${id} for no key update`;
    return row;
  },

  /** Voids an event that is locked, and takes it out of the counters if it was counted. */
  async void({ tenant_id, id }: UsageRow, reason: string | null): Promise<void> {
    await sql`
      with voided as (
        update billing.usage_event set status = 'voided', void_reason = ${reason}
        where tenant_id = ${tenant_id} and id = ${id}
        returning tenant_id, subscription_id, feature_key, segment_start, (happened_at at time zone 'UTC')::date as day, quantity
      ),
      total as (
        update billing.usage_total as total set quantity = total.quantity - voided.quantity, events = events - 1
        from voided
        where total.tenant_id = voided.tenant_id and total.subscription_id = voided.subscription_id
          and total.feature_key = voided.feature_key and total.segment_start = voided.segment_start
      )
      update billing.usage_day as by_day set quantity = by_day.quantity - voided.quantity, events = events - 1
      from voided
      where by_day.tenant_id = voided.tenant_id and by_day.subscription_id = voided.subscription_id
        and by_day.feature_key = voided.feature_key and by_day.day = voided.day`;
  },

  /** The use of a feature by a subscription, by the first day of each bucket that has any; `from` and `to` are days. */
  async byBucket(
    { tenant_id, id }: { readonly tenant_id: string; readonly id: string },
    featureKey: string,
    {
      unit,
      from,
      to,
    }: { readonly unit: 'day' | 'week' | 'month'; readonly from: string; readonly to: string },
  ): Promise<Map<string, string>> {
    const rows = await sql<{ bucket: string; quantity: string }[]>`
      select to_char(date_trunc(${unit}, day::timestamp), 'YYYY-MM-DD') as bucket, sum(quantity) as quantity
      from billing.usage_day
      where tenant_id = ${tenant_id} and subscription_id = ${id} and feature_key = ${featureKey}
        and day between ${from}::date and ${to}::date
      group by bucket`;
    return new Map(rows.map(({ bucket, quantity }) => [bucket, quantity]));
  },
});

/** The status is a part of the statement: the indexes of the events that have one status serve no parameter, which might be another. */
function hasStatus(sql: Sql, status: UsageEventStatus): Fragment {
  if (status === 'voided') return sql`status = 'voided'`;
  return status === 'buffered' ? sql`status = 'buffered'` : sql`status = 'counted'`;
}

/** Ids begin with the time of acceptance, which bounds the part of the list in which events of a time can be. */
const firstIdAt = (ms: number): string =>
  newId('uevt', Math.max(0, ms)).slice(0, 'uevt_'.length + digitsOfTime);
const digitsOfTime = 10;

const columns = (sql: Sql) => sql`
  tenant_id, id, app_id, feature_key, quantity, idempotency_key, metadata, status, happened_at, sent_timestamp, accepted_at,
  subscription_id, period_start, void_reason`;
