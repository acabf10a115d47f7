import type { Delivery } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { claimSeconds, type Outcome } from '../../../delivery/delivery-queue.ts';
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

/** The most deliveries to a webhook that are in flight. */
const mostInFlight = 4;
/** The most deliveries of a tenant that are in flight, half of what one process attempts: its receivers may all hang. */
const mostOfTenant = 32;
/** The most webhooks of one look for due deliveries. */
const mostWebhooks = 20_000;

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

  /**
   * Claims due deliveries of active webhooks; a test is sent in any case. Of each webhook only its first due deliveries are looked at, so
   * that no more than those are in flight: one while its receiver fails. The cost is that of the webhooks that have deliveries pending.
   */
  async claim(count: number): Promise<DueDelivery[]> {
    return await sql<DueDelivery[]>`
      with recursive waiting as (
        (select tenant_id, webhook_id, 1 as seen from auth.deliveries
         where state = 'pending' order by tenant_id, webhook_id limit 1)
        union all
        select next.*, waiting.seen + 1 from waiting cross join lateral (
          select tenant_id, webhook_id from auth.deliveries
          where state = 'pending' and (tenant_id, webhook_id) > (waiting.tenant_id, waiting.webhook_id)
          order by tenant_id, webhook_id limit 1
        ) as next
        where waiting.seen < ${mostWebhooks}
      ),
      seen as (
        select due.*, webhooks.url, webhooks.secret_box, coalesce(claimed_until > now(), false) as is_claimed,
          case when webhooks.previous_until > now() then webhooks.previous_secret_box end as previous_secret_box,
          row_number() over (
            partition by due.tenant_id order by coalesce(claimed_until > now(), false) desc, due.next_attempt_at, due.id
          ) as of_tenant
        from waiting
        join auth.webhooks on webhooks.tenant_id = waiting.tenant_id and webhooks.id = waiting.webhook_id
        cross join lateral (
          select tenant_id, id, next_attempt_at, claimed_until from auth.deliveries
          where deliveries.tenant_id = webhooks.tenant_id and deliveries.webhook_id = webhooks.id
            and state = 'pending' and next_attempt_at <= now() and (webhooks.active or event = ${testEvent})
          order by next_attempt_at, id
          limit case when webhooks.breaker = 'closed' and webhooks.consecutive_failures = 0 then ${mostInFlight} else 1 end
        ) as due
        where webhooks.retry_at is null or webhooks.retry_at <= now()
      ),
      first as materialized (
        select tenant_id, id, url, secret_box, previous_secret_box from seen
        where not is_claimed and of_tenant <= ${mostOfTenant}
        order by next_attempt_at
        limit ${count}
      )
      update auth.deliveries
      set claimed_until = now() + ${claimSeconds} * interval '1 second'
      from (
        select first.* from first join auth.deliveries using (tenant_id, id)
        where deliveries.state = 'pending' and deliveries.next_attempt_at <= now()
          and (deliveries.claimed_until is null or deliveries.claimed_until <= now())
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
