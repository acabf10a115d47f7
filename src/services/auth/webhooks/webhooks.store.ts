import type { Webhook } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { Breaker } from '../../../delivery/breaker.ts';
import { NotFound } from '../../../lib/errors.ts';

export interface NewWebhook extends Pick<Webhook, 'id' | 'app_id' | 'url' | 'events' | 'active'> {
  readonly tenant_id: string;
  readonly secret_box: Buffer;
}

/** What is known of the receiver of a webhook, with the time of the database in milliseconds since 1970. */
export interface Receiver extends Breaker {
  readonly now: number;
}

/** Every statement about webhooks. */
export const webhookStore = (sql: Sql) => ({
  async insert(webhook: NewWebhook): Promise<Webhook> {
    const [inserted] = await sql<[Webhook]>`
      insert into auth.webhooks (id, tenant_id, app_id, url, events, active, secret_box)
      values (
        ${webhook.id}, ${webhook.tenant_id}, ${webhook.app_id}, ${webhook.url}, ${webhook.events}, ${webhook.active},
        ${webhook.secret_box}
      )
      returning ${columns(sql)}`;
    return inserted;
  },

  /** Counts the app's webhooks and locks them: other writers that add one wait until the end of the transaction. */
  async countLocked(tenant: string, app: string): Promise<number> {
    await sql`select from auth.apps where tenant_id = ${tenant} and id = ${app} for no key update`;
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count from auth.webhooks where tenant_id = ${tenant} and app_id = ${app}`;
    return count;
  },

  /** The app's active webhooks, with the events that they subscribe to. */
  async active(tenant: string, app: string): Promise<Pick<Webhook, 'id' | 'events'>[]> {
    return await sql<Pick<Webhook, 'id' | 'events'>[]>`
      select id, events from auth.webhooks where tenant_id = ${tenant} and app_id = ${app} and active`;
  },

  async get(tenant: string, app: string, id: string): Promise<Webhook> {
    const [webhook] = await sql<Webhook[]>`
      select ${columns(sql)}
      from auth.webhooks
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!webhook) throw NotFound('webhook');
    return webhook;
  },

  /** Lists the newest first. */
  async list(tenant: string, app: string): Promise<Webhook[]> {
    return await sql<Webhook[]>`
      select ${columns(sql)}
      from auth.webhooks
      where tenant_id = ${tenant} and app_id = ${app}
      order by created_at desc, id desc
      limit 20`;
  },

  /**
   * Absent members keep their value. Activating a webhook clears its disabled reason and allows five days for a success; its receiver, as
   * one at another address, begins without a past.
   */
  async update(
    tenant: string,
    app: string,
    id: string,
    { url, events, active }: Partial<Pick<Webhook, 'url' | 'events' | 'active'>>,
  ): Promise<Webhook> {
    const isNew = active === true || url !== undefined;
    const [webhook] = await sql<Webhook[]>`
      update auth.webhooks
      set url = coalesce(${url ?? null}, url),
        events = coalesce(${events ?? null}::text[], events),
        active = coalesce(${active ?? null}, active),
        disabled_reason = case when ${active ?? false} then null else disabled_reason end,
        last_success_at = case when ${active ?? false} and not webhooks.active then now() else last_success_at end,
        breaker = case when ${isNew} then 'closed' else breaker end,
        consecutive_failures = case when ${isNew} then 0 else consecutive_failures end,
        openings = case when ${isNew} then 0 else openings end,
        retry_at = case when ${isNew} then null else retry_at end,
        updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      returning ${columns(sql)}`;
    if (!webhook) throw NotFound('webhook');
    return webhook;
  },

  async delete(tenant: string, app: string, id: string): Promise<void> {
    const { count } = await sql`
      delete from auth.webhooks where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (count === 0) throw NotFound('webhook');
  },

  /** For 24 hours, deliveries are also signed with the previous secret. */
  async rotate(tenant: string, app: string, id: string, secretBox: Buffer): Promise<Webhook> {
    const [webhook] = await sql<Webhook[]>`
      update auth.webhooks
      set previous_secret_box = secret_box, previous_until = now() + interval '24 hours', secret_box = ${secretBox},
        updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      returning ${columns(sql)}`;
    if (!webhook) throw NotFound('webhook');
    return webhook;
  },

  /** Locks what is known of the receiver; undefined when the webhook is gone, or when a success would tell nothing new. */
  async lockReceiver(tenant: string, id: string, hasSucceeded: boolean): Promise<Receiver | undefined> {
    const [receiver] = await sql<Receiver[]>`
      select breaker, consecutive_failures, openings, extract(epoch from retry_at)::float8 * 1000 as retry_at,
        extract(epoch from now())::float8 * 1000 as now
      from auth.webhooks
      where tenant_id = ${tenant} and id = ${id}
        and (not ${hasSucceeded} or breaker <> 'closed' or consecutive_failures > 0 or openings > 0
          or last_success_at is null or last_success_at < now() - interval '1 minute')
      for no key update`;
    return receiver;
  },

  async noteReceiver(tenant: string, id: string, breaker: Breaker, hasSucceeded: boolean): Promise<void> {
    await sql`
      update auth.webhooks
      set breaker = ${breaker.breaker}, consecutive_failures = ${breaker.consecutive_failures}, openings = ${breaker.openings},
        retry_at = to_timestamp(${breaker.retry_at === null ? null : breaker.retry_at / 1_000}::float8),
        last_success_at = case when ${hasSucceeded} then now() else last_success_at end
      where tenant_id = ${tenant} and id = ${id}`;
  },

  async switchOff(tenant: string, id: string, reason: string): Promise<void> {
    await sql`
      update auth.webhooks set active = false, disabled_reason = ${reason}, updated_at = now()
      where tenant_id = ${tenant} and id = ${id} and active`;
  },

  /** Deactivates a webhook that has not accepted anything for five days. */
  async switchOffDead(tenant: string, id: string): Promise<void> {
    await sql`
      update auth.webhooks
      set active = false, disabled_reason = 'nothing was taken for five days', updated_at = now()
      where tenant_id = ${tenant} and id = ${id} and active
        and coalesce(last_success_at, created_at) < now() - interval '5 days'`;
  },
});

const columns = (sql: Sql) => sql`
  webhooks.id, webhooks.app_id, webhooks.url, webhooks.events, webhooks.active, webhooks.disabled_reason,
  webhooks.created_at, webhooks.updated_at`;
