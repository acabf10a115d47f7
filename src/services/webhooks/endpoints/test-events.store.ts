import type { Delivery } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { NotFound } from '../../../lib/errors.ts';

/** A test event with its only delivery. */
export interface NewTest {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly endpoint_id: string;
  readonly id: string;
  readonly delivery_id: string;
  readonly type: string;
  /** JSON. */
  readonly data: string;
  readonly created_at: Date;
}

/** Every statement about test events. */
export const testEventStore = (sql: Sql) => ({
  /** Stores the event and its delivery, which is due at once and attempted once; throws when the endpoint has been deleted. */
  async insert({ tenant_id, app_id, endpoint_id, type, ...test }: NewTest): Promise<Delivery> {
    const [delivery] = await sql<Delivery[]>`
      with made as (
        insert into webhooks.event (tenant_id, id, app_id, type, data, channels, delivery_count, created_at)
        select ${tenant_id}, ${test.id}, ${app_id}, ${type}, ${test.data}::text::json, '{}', 1, ${test.created_at}
        from webhooks.endpoint
        where tenant_id = ${tenant_id} and id = ${endpoint_id} and deleted_at is null
        returning id
      )
      insert into webhooks.delivery (tenant_id, id, app_id, event_id, endpoint_id, event_type, max_attempts, test)
      select ${tenant_id}, ${test.delivery_id}, ${app_id}, made.id, ${endpoint_id}, ${type}, 1, true from made
      returning id, tenant_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts, next_attempt_at, last_status_code,
        last_error, last_response, last_latency_ms, replay_of, null::timestamptz as completed_at, created_at, updated_at`;
    if (!delivery) throw NotFound('endpoint');
    return delivery;
  },
});
