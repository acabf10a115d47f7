import type { Sql } from '../../../db/index.ts';

/** The name of a tenant of an app. */
export const subscriberOf = (tenant: string, app: string): string => `${app}\n${tenant}`;

/** Every statement about who subscribes to anything. */
export const subscriberStore = (sql: Sql) => ({
  /** Those of the tenants of these events that have an enabled endpoint. */
  async among(events: readonly { readonly tenant: string; readonly app: string }[]): Promise<Set<string>> {
    const rows = await sql<{ tenant_id: string; app_id: string }[]>`
      select distinct given.tenant_id, given.app_id
      from unnest(${events.map(({ tenant }) => tenant)}::text[], ${events.map(({ app }) => app)}::text[]) as given(tenant_id, app_id)
      where exists (
        select from webhooks.subscription as held where held.tenant_id = given.tenant_id and held.app_id = given.app_id
      )`;
    return new Set(rows.map(({ tenant_id, app_id }) => subscriberOf(tenant_id, app_id)));
  },
});
