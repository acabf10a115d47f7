import type { Sql } from '../../../../db/index.ts';
import { newId } from '../../../../lib/ids.ts';
import type { Sealing } from '../../sealing.ts';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

/** The secret of the endpoints that tests make. */
export const testSecret = secret;

/** What a test says about an endpoint; the rest is as if it had been created without it. */
export interface TestEndpoint {
  readonly url: string;
  readonly tenant_id?: string;
  readonly rate_limit?: number;
  readonly max_concurrency?: number;
  readonly max_attempts?: number;
  readonly timeout_ms?: number;
  readonly ordered?: boolean;
  readonly enabled?: boolean;
}

/** Makes records as accepted events would, for tests of what comes after. */
export const records = (sql: Sql, sealing: Sealing) => ({
  async endpoint({ tenant_id = 'acme', ...given }: TestEndpoint): Promise<string> {
    const id = newId('ep');
    const all = {
      description: '',
      event_types: ['*'],
      channels: [],
      ordered: false,
      rate_limit: 0,
      enabled: true,
      payload_format: 'standard',
      max_concurrency: 20,
      timeout_ms: 15_000,
      max_attempts: 10,
      ...given,
    };
    const more = {
      tenant_id,
      id,
      app_id: 'default',
      headers: {},
      metadata: {},
      disabled_reason: all.enabled ? null : 'manual',
    };
    await sql`insert into webhooks.endpoint ${sql({ ...all, ...more })}`;
    const box = sealing.sealSecret({ tenant_id, id }, secret);
    await sql`insert into webhooks.endpoint_secret ${sql({ tenant_id, endpoint_id: id, id: newId('sec'), box })}`;
    return id;
  },

  /** Makes `count` events of an endpoint's tenant, each with a delivery to it. Returns the ids of the deliveries. */
  async deliveries(
    endpointId: string,
    count: number,
    more: { order_key?: string; type?: string } = {},
  ): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newId('del'));
    await sql`
      with given as (
        select * from unnest(${ids}::text[], ${ids.map(() => newId('evt'))}::text[]) with ordinality as given(delivery_id, event_id, nth)
      ),
      endpoint as (select * from webhooks.endpoint where id = ${endpointId}),
      events as (
        insert into webhooks.event (tenant_id, id, app_id, type, data, channels, delivery_count, created_at)
        select tenant_id, event_id, app_id, ${more.type ?? 'invoice.paid'}, json_build_object('nth', nth, 'key', ${more.order_key ?? null}::text), '{}', 1, now()
        from given, endpoint
      )
      insert into webhooks.delivery (
        tenant_id, id, app_id, event_id, endpoint_id, event_type, max_attempts, order_key, order_number
      )
      select tenant_id, delivery_id, app_id, event_id, endpoint.id, ${more.type ?? 'invoice.paid'}, max_attempts,
        ${more.order_key ?? null}::text, case when ${more.order_key ?? null}::text is not null then nth end
      from given, endpoint`;
    return ids;
  },

  /** The rows of a delivery, wherever it is. */
  async delivery(id: string): Promise<Record<string, unknown>> {
    const [row] = await sql`
      select state, attempt_count, last_status_code, last_error, last_response from webhooks.delivery where id = ${id}
      union all
      select state, attempt_count, last_status_code, last_error, last_response from webhooks.delivery_done where id = ${id}`;
    return row!;
  },

  /** Makes everything due that waits. */
  async makeDue(): Promise<void> {
    await sql`update webhooks.delivery set next_attempt_at = now() where state = 'pending'`;
  },

  async lane(endpointId: string): Promise<Record<string, unknown>> {
    const [row] = await sql`select * from webhooks.lane where endpoint_id = ${endpointId}`;
    return row!;
  },

  async clear(): Promise<void> {
    await sql`
      truncate webhooks.delivery, webhooks.delivery_done, webhooks.event, webhooks.endpoint, webhooks.endpoint_secret, webhooks.lane,
        webhooks.dlq, webhooks.attempt, webhooks.outbox, webhooks.tally`;
  },

  /** How many deliveries are in each state. */
  async states(): Promise<Record<string, number>> {
    const rows = await sql<{ state: string; count: number }[]>`
      select state, count(*)::integer as count from (
        select state from webhooks.delivery union all select state from webhooks.delivery_done
      ) as all_of_them group by state`;
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  },
});
