import type { Endpoint } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { formatDuration } from '../../../lib/durations.ts';
import type { Disabling } from './lanes.ts';

/** An endpoint that its receiver's answers have disabled, as its event shows it: without its headers, which may hold secrets. */
export type DisabledEndpoint = Omit<Endpoint, 'headers' | 'health'>;

/** What becomes of an endpoint whose deliveries fail. */
export const endingStore = (sql: Sql) => ({
  /** Disables endpoints; their pending deliveries are held. Returns those that were enabled. */
  async disable(reasons: ReadonlyMap<string, Exclude<Disabling, null>>): Promise<DisabledEndpoint[]> {
    const rows = await sql<(DisabledEndpoint & { readonly timeout_ms: number })[]>`
      with disabled as (
        update webhooks.endpoint
        set enabled = false, disabled_reason = given.reason, updated_at = now()
        from unnest(${[...reasons.keys()]}::text[], ${[...reasons.values()]}::text[]) as given(id, reason)
        where endpoint.id = given.id and enabled and deleted_at is null
        returning endpoint.*
      ),
      unsubscribed as (
        delete from webhooks.subscription using disabled
        where subscription.tenant_id = disabled.tenant_id and subscription.endpoint_id = disabled.id
      )
      select id, uid, tenant_id, app_id, url, description, event_types, channels, ordered, rate_limit, metadata, enabled, disabled_reason,
        payload_format, max_concurrency, timeout_ms, max_attempts, created_at, updated_at
      from disabled`;
    return rows.map(({ timeout_ms, ...endpoint }) => ({ ...endpoint, timeout: formatDuration(timeout_ms) }));
  },
});
