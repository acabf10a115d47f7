import type { Sql } from '../../../db/index.ts';
import { emit, type Event } from '../../../db/outbox.ts';
import { newId } from '../../../lib/ids.ts';

/** A delivery that became too old. */
interface Expired {
  readonly id: string;
  readonly dlq_id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly url: string;
  readonly attempt_count: number;
  readonly last_status_code: number | null;
  readonly now: string;
  readonly test: boolean;
}

const before = (sql: Sql, ms: number) =>
  sql`statement_timestamp() - ${ms}::float8 * interval '1 millisecond'`;

/** Statements that end or delete what is old, each up to `most` rows. They return how many rows they took. */
export const sweepStore = (sql: Sql) => ({
  /** Fails deliveries that are too old, in the transaction of `sql`. One that is being attempted waits for its outcome. */
  async expire(maxAgeMs: number, most: number): Promise<number> {
    const expired = await sql<Expired[]>`
      with old as (
        select tenant_id, id from webhooks.delivery
        where created_at < ${before(sql, maxAgeMs)} and state = 'pending' and id < ${newId('del', Date.now() - maxAgeMs + skewMs)}
        order by id limit ${most} for update skip locked
      ),
      numbered as (select *, row_number() over () as nth from old),
      given as (
        select * from numbered join unnest(${Array.from({ length: most }, () => newId('dlq'))}::text[]) with ordinality as fresh(dlq_id, nth)
        using (nth)
      ),
      ended as (
        delete from webhooks.delivery using given where delivery.tenant_id = given.tenant_id and delivery.id = given.id
        returning delivery.*, given.dlq_id
      ),
      done as (${history(sql, sql`'failed'`, sql`'expired'`)}),
      letters as (
        select ended.*, endpoint.url, event.data from ended
        join webhooks.endpoint on endpoint.tenant_id = ended.tenant_id and endpoint.id = ended.endpoint_id
        left join webhooks.event on event.tenant_id = ended.tenant_id and event.id = ended.event_id
      ),
      kept as (
        insert into webhooks.dlq (
          tenant_id, id, app_id, delivery_id, event_id, endpoint_id, event_type, url, payload, error, attempt_count, last_status_code
        )
        select tenant_id, dlq_id, app_id, id, event_id, endpoint_id, event_type, url, coalesce(data, '{}'), 'expired', attempt_count,
          last_status_code
        from letters where not test
      )
      select id, dlq_id, tenant_id, app_id, endpoint_id, event_id, event_type, url, attempt_count, last_status_code, now() as now, test
      from letters`;
    const [first, ...rest] = expired.filter(isReported).map(failedEvent);
    if (first !== undefined) await emit(sql, first, ...rest);
    return expired.length;
  },

  /** Cancels what deleted endpoints still had to get. */
  async cancel(most: number): Promise<number> {
    const { count } = await sql`
      with old as (
        select delivery.tenant_id, delivery.id
        from (select tenant_id, id from webhooks.endpoint where deleted_at is not null) as gone
        cross join lateral (
          select tenant_id, id from webhooks.delivery
          where endpoint_id = gone.id and state = 'pending' limit ${most} for update skip locked
        ) as delivery
        limit ${most}
      ),
      ended as (
        delete from webhooks.delivery using old where delivery.tenant_id = old.tenant_id and delivery.id = old.id returning delivery.*
      )
      ${history(sql, sql`'cancelled'`, sql`last_error`)}`;
    return count;
  },

  /** Deletes endpoints whose last delivery has ended, with their lanes. */
  async forgetEndpoints(most: number): Promise<number> {
    const { count } = await sql`
      with gone as (
        select tenant_id, id from webhooks.endpoint
        where deleted_at is not null and not exists (select from webhooks.delivery where endpoint_id = endpoint.id)
        limit ${most} for update skip locked
      ),
      lanes as (delete from webhooks.lane using gone where lane.endpoint_id = gone.id)
      delete from webhooks.endpoint using gone where endpoint.tenant_id = gone.tenant_id and endpoint.id = gone.id`;
    return count;
  },

  async forgetDeliveries(retentionMs: number, most: number): Promise<number> {
    const { count } = await sql`
      with old as (
        select tenant_id, id from webhooks.delivery_done
        where completed_at < ${before(sql, retentionMs)} and id < ${newId('del', Date.now() - retentionMs + skewMs)}
        order by id limit ${most} for update skip locked
      )
      delete from webhooks.delivery_done as done using old where done.tenant_id = old.tenant_id and done.id = old.id`;
    return count;
  },

  async forgetAttempts(retentionMs: number, most: number): Promise<number> {
    const { count } = await sql`
      with old as (
        select ctid from webhooks.attempt where started_at < ${before(sql, retentionMs)} order by started_at limit ${most}
        for update skip locked
      )
      delete from webhooks.attempt where ctid = any(array(select ctid from old))`;
    return count;
  },

  async forgetDeadLetters(retentionMs: number, most: number): Promise<number> {
    const { count } = await sql`
      with old as (
        select tenant_id, id from webhooks.dlq where failed_at < ${before(sql, retentionMs)} order by failed_at limit ${most}
        for update skip locked
      )
      delete from webhooks.dlq using old where dlq.tenant_id = old.tenant_id and dlq.id = old.id`;
    return count;
  },

  /** Deletes events, but none that is still to be delivered. */
  async forgetEvents(retentionMs: number, most: number): Promise<number> {
    const { count } = await sql`
      with old as (
        select tenant_id, id from webhooks.event
        where created_at < ${before(sql, retentionMs)} and id < ${newId('evt', Date.now() - retentionMs + skewMs)}
          and not exists (
            select from webhooks.delivery where delivery.tenant_id = event.tenant_id and delivery.event_id = event.id
          )
        order by id limit ${most} for update skip locked
      )
      delete from webhooks.event using old where event.tenant_id = old.tenant_id and event.id = old.id`;
    return count;
  },

  async forgetKeys(most: number): Promise<number> {
    const { count } = await sql`
      with old as (
        select tenant_id, app_id, key from webhooks.idempotency where expires_at < statement_timestamp() order by expires_at limit ${most}
        for update skip locked
      )
      delete from webhooks.idempotency as used using old
      where used.tenant_id = old.tenant_id and used.app_id = old.app_id and used.key = old.key`;
    return count;
  },

  /** Sums up the counts that statements have added. */
  async foldTallies(most: number): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      with old as (
        delete from webhooks.tally where ctid = any(array(select ctid from webhooks.tally limit ${most} for update skip locked))
        returning app_id, tenant_id, kind, amount
      ),
      sums as (
        select app_id, tenant_id, kind, sum(amount) as amount, count(*) as rows from old group by app_id, tenant_id, kind
      ),
      folded as (
        insert into webhooks.tally (app_id, tenant_id, kind, amount)
        select app_id, tenant_id, kind, amount from sums where amount <> 0
      )
      select coalesce(sum(rows - 1), 0)::bigint as count from sums`;
    return count;
  },
});

/** By how much the clocks of processes, which make ids, may differ from the database's. */
const skewMs = 60_000;

/** Moves the deliveries in `ended` to the history. */
const history = (sql: Sql, state: ReturnType<Sql>, error: ReturnType<Sql>) => sql`
  insert into webhooks.delivery_done (
    tenant_id, id, app_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts, last_status_code, last_error,
    last_response, last_latency_ms, replay_of, created_at, updated_at, completed_at
  )
  select tenant_id, id, app_id, event_id, endpoint_id, event_type, ${state}, attempt_count, max_attempts, last_status_code, ${error},
    last_response, last_latency_ms, replay_of, created_at, now(), now()
  from ended`;

const isReported = ({ test, event_type }: Expired): boolean => !test && !event_type.startsWith('webhooks.');

const failedEvent = ({ id, dlq_id, app_id, now, test: _, ...expired }: Expired): Event => ({
  source: '/webhooks',
  type: 'webhooks.delivery.failed',
  subject: expired.endpoint_id,
  tenant: expired.tenant_id,
  app: app_id,
  actor: 'system',
  data: { ...expired, id: dlq_id, delivery_id: id, error: 'expired', failed_at: now, created_at: now },
});
