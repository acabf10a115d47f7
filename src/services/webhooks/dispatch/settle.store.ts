import type { Sql } from '../../../db/index.ts';

/** The end of an attempt: it counts only while the delivery is under this lease, in this turn. */
export interface Settlement {
  readonly tenant_id: string;
  readonly id: string;
  readonly lease_id: string;
  readonly turn: number;
  readonly attempt_id: string;
  readonly url: string;
  readonly result: 'delivered' | 'retry' | 'failed';
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly latency_ms: number;
  readonly delay_ms: number | null;
  /** Milliseconds since it began. */
  readonly age_ms: number;
  /** The id of the dead letter, if the delivery failed. */
  readonly dlq_id: string | null;
}

/** A delivery whose attempt counted. */
export interface Settled {
  readonly id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly attempt_count: number;
  /** The dead letter; null if there is none. */
  readonly dlq_id: string | null;
  readonly now: string;
}

/** Every statement that ends attempts. */
export const settleStore = (sql: Sql) => ({
  /**
   * Records the ends of attempts, and moves deliveries that have ended to the history. One statement: after a lost connection it may be
   * repeated, because the second time nothing is under the lease any more.
   */
  async settle(list: readonly Settlement[]): Promise<Settled[]> {
    return await sql<Settled[]>`
      with given as materialized (${settlements(sql, list)}),
      ended as (
        delete from webhooks.delivery using given
        where ${isSame(sql)} and given.result <> 'retry'
        returning delivery.*, given.*, delivery.attempt_count + 1 as attempts
      ),
      again as (
        update webhooks.delivery
        set state = 'pending', lease_id = null, attempt_count = attempt_count + 1, updated_at = now(),
          next_attempt_at = statement_timestamp() + given.delay_ms * interval '1 millisecond',
          last_status_code = given.status_code, last_error = given.error, last_response = given.response,
          last_latency_ms = given.latency_ms
        from given
        where ${isSame(sql)} and given.result = 'retry'
        returning delivery.*, given.*
      ),
      done as (
        insert into webhooks.delivery_done (
          tenant_id, id, app_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts, last_status_code, last_error,
          last_response, last_latency_ms, replay_of, created_at, updated_at, completed_at
        )
        select tenant_id, id, app_id, event_id, endpoint_id, event_type, result, attempts, max_attempts, status_code, error,
          response, latency_ms, replay_of, created_at, now(), now()
        from ended
      ),
      counted as (
        select id, tenant_id, app_id, endpoint_id, event_id, event_type, attempts, test, ${attemptOf(sql)} from ended
        union all
        select id, tenant_id, app_id, endpoint_id, event_id, event_type, attempt_count, test, ${attemptOf(sql)} from again
      ),
      recorded as (
        insert into webhooks.attempt (
          tenant_id, delivery_id, attempt, id, url, outcome, status_code, error, response, latency_ms, started_at
        )
        select tenant_id, id, attempts, attempt_id, url, result, status_code, error, response, latency_ms,
          statement_timestamp() - age_ms * interval '1 millisecond'
        from counted
      ),
      letters as (
        insert into webhooks.dlq (
          tenant_id, id, app_id, delivery_id, event_id, endpoint_id, event_type, url, payload, error, attempt_count, last_status_code
        )
        select counted.tenant_id, dlq_id, counted.app_id, counted.id, event_id, endpoint_id, event_type, url, coalesce(data, '{}'), error,
          attempts, status_code
        from counted left join webhooks.event on event.tenant_id = counted.tenant_id and event.id = counted.event_id
        where result = 'failed' and not test
      )
      select id, tenant_id, app_id, endpoint_id, event_id, event_type, attempts as attempt_count,
        case when result = 'failed' and not test then dlq_id end as dlq_id, now() as now
      from counted`;
  },
});

const attemptOf = (sql: Sql) =>
  sql`attempt_id, url, result, status_code, error, response, latency_ms, age_ms, dlq_id`;

const isSame = (sql: Sql) => sql`
  delivery.tenant_id = given.tenant and delivery.id = given.delivery_id and delivery.lease_id = given.lease
  and delivery.turn = given.claimed_turn`;

/** None of these names is that of a column of the deliveries. */
function settlements(sql: Sql, list: readonly Settlement[]) {
  const column = <Value>(of: (one: Settlement) => Value) => list.map(of);
  return sql`
    select * from unnest(
      ${column(({ tenant_id }) => tenant_id)}::text[], ${column(({ id }) => id)}::text[],
      ${column(({ lease_id }) => lease_id)}::text[], ${column(({ turn }) => turn)}::integer[],
      ${column(({ attempt_id }) => attempt_id)}::text[], ${column(({ url }) => url)}::text[],
      ${column(({ result }) => result)}::text[], ${column(({ status_code }) => status_code)}::integer[],
      ${column(({ error }) => error)}::text[], ${column(({ response }) => response)}::text[],
      ${column(({ latency_ms }) => latency_ms)}::integer[], ${column(({ delay_ms }) => delay_ms)}::float8[],
      ${column(({ age_ms }) => age_ms)}::float8[],
      ${column(({ dlq_id }) => dlq_id)}::text[]
    ) as given(
      tenant, delivery_id, lease, claimed_turn, attempt_id, url, result, status_code, error, response, latency_ms, delay_ms, age_ms, dlq_id
    )`;
}
