import type { Delivery } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { claimSeconds } from '../../../delivery/attempt.ts';
import type { Outcome } from '../../../delivery/delivery-queue.ts';
import { NotFound } from '../../../lib/errors.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';

export interface NewDelivery extends Pick<Delivery, 'id' | 'webhook_id' | 'event_id' | 'event'> {
  readonly tenant_id: string;
  /** The payload: the event as JSON. */
  readonly body: string;
}

/** A delivery that this process has claimed for a while, with the data needed to try it. */
export interface DueDelivery {
  readonly id: string;
  readonly tenant_id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  readonly secret_box: Buffer;
  readonly previous_secret_box: Buffer | null;
}

/** The name of the event that is sent only on request. */
export const testEvent = 'auth.webhook.test';

/** Every statement about deliveries. */
export const deliveryStore = (sql: Sql) => ({
  async insert(deliveries: readonly NewDelivery[]): Promise<void> {
    await sql`insert into auth.deliveries ${sql(deliveries)}`;
  },

  async get(tenant: string, webhookId: string, id: string): Promise<Delivery> {
    const [delivery] = await sql<Delivery[]>`
      select ${columns(sql)}
      from auth.deliveries
      where tenant_id = ${tenant} and webhook_id = ${webhookId} and id = ${id}`;
    if (!delivery) throw NotFound('delivery');
    return delivery;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(tenant: string, webhookId: string, window: Window): Promise<Delivery[]> {
    return await sql<Delivery[]>`
      select ${columns(sql)}
      from auth.deliveries
      where tenant_id = ${tenant} and webhook_id = ${webhookId}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Requeues a failed delivery; others are unchanged. */
  async retry(tenant: string, webhookId: string, id: string): Promise<void> {
    await sql`
      update auth.deliveries
      set state = 'pending', attempts = 0, status_code = null, error = null, next_attempt_at = now()
      where tenant_id = ${tenant} and webhook_id = ${webhookId} and id = ${id} and state = 'failed'`;
  },

  /** Claims due deliveries of active webhooks. A test is sent in any case. */
  async claim(count: number): Promise<DueDelivery[]> {
    return await sql<DueDelivery[]>`
      update auth.deliveries
      set claimed_until = now() + ${claimSeconds} * interval '1 second'
      from (
        select deliveries.tenant_id, deliveries.id, webhooks.url, webhooks.secret_box,
          case when webhooks.previous_until > now() then webhooks.previous_secret_box end as previous_secret_box
        from auth.deliveries
        join auth.webhooks on webhooks.tenant_id = deliveries.tenant_id and webhooks.id = deliveries.webhook_id
        where deliveries.state = 'pending' and deliveries.next_attempt_at <= now()
          and (deliveries.claimed_until is null or deliveries.claimed_until <= now())
          and (webhooks.active or deliveries.event = ${testEvent})
        order by deliveries.next_attempt_at
        limit ${count}
        for update of deliveries skip locked
      ) as due
      where deliveries.tenant_id = due.tenant_id and deliveries.id = due.id
      returning deliveries.id, deliveries.tenant_id, deliveries.webhook_id, deliveries.event_id, deliveries.body,
        deliveries.attempts, due.url, due.secret_box, due.previous_secret_box`;
  },

  async settle({ tenant_id, id }: DueDelivery, { state, statusCode, error, delay }: Outcome): Promise<void> {
    await sql`
      update auth.deliveries
      set state = ${state}, attempts = attempts + 1, status_code = ${statusCode}, error = ${error},
        claimed_until = null,
        next_attempt_at = ${delay === null ? null : sql`now() + ${delay} * interval '1 second'`}
      where tenant_id = ${tenant_id} and id = ${id}`;
  },

  /** Removes up to `count` deliveries that are older than 30 days. */
  async prune(count: number): Promise<number> {
    const { count: removed } = await sql`
      delete from auth.deliveries
      where (tenant_id, id) in (
        select tenant_id, id from auth.deliveries
        where state <> 'pending' and created_at < now() - interval '30 days'
        limit ${count}
      )`;
    return removed;
  },
});

/** Whether deliveries of an event are kept: the erasure of a user finds the deliveries about the user through their event. */
export const isDelivered = (sql: Sql) => sql`
  exists (
    select from auth.deliveries
    where deliveries.tenant_id = outbox.tenant_id and deliveries.event_id = outbox.id
  )`;

const columns = (sql: Sql) => sql`
  deliveries.id, deliveries.webhook_id, deliveries.event_id, deliveries.event, deliveries.state, deliveries.attempts,
  deliveries.status_code, deliveries.error,
  case when deliveries.state = 'pending' then deliveries.next_attempt_at end as next_attempt_at, deliveries.created_at`;
