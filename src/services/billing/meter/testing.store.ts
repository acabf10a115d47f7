import type { Sql } from '../../../db/index.ts';
import type { PlanRevision } from '../plans/revisions.store.ts';

/** A sum of quantities, exact, and how many events it is of. */
interface Sum {
  readonly quantity: string;
  readonly count: number;
}

/** What is stored of a tenant: the sums of the events that count, and of both kinds of counters. */
export interface Sums {
  readonly events: Sum;
  readonly totals: Sum;
  readonly days: Sum;
}

/** The statements of tests that no part of the service has. */
export const testingStore = (sql: Sql) => ({
  async insertPlan(
    app: string,
    { planId, slug, currency, revision }: PlanRevision,
    at: number,
  ): Promise<void> {
    const time = new Date(at);
    await sql`
      insert into billing.plan ${sql({
        ...{ app_id: app, id: planId, slug, name: 'Pro', description: '', currency, status: 'active' },
        ...{ trial_days: 0, trial_requires_payment_method: false, revision, metadata: {} },
        ...{ created_at: time, updated_at: time, deleted_at: null },
      })}`;
  },

  /** Makes a revision of a plan the current one. */
  async setRevision(app: string, { planId, revision }: PlanRevision): Promise<void> {
    await sql`update billing.plan set revision = ${revision} where app_id = ${app} and id = ${planId}`;
  },

  async sums(tenant: string): Promise<Sums> {
    const [sums] = await sql<[Sums]>`
      select
        (
          select jsonb_build_object('quantity', coalesce(sum(quantity), 0)::text, 'count', count(*))
          from billing.usage_event where tenant_id = ${tenant} and status = 'counted'
        ) as events,
        (
          select jsonb_build_object('quantity', coalesce(sum(quantity), 0)::text, 'count', coalesce(sum(events), 0))
          from billing.usage_total where tenant_id = ${tenant}
        ) as totals,
        (
          select jsonb_build_object('quantity', coalesce(sum(quantity), 0)::text, 'count', coalesce(sum(events), 0))
          from billing.usage_day where tenant_id = ${tenant}
        ) as days`;
    return sums;
  },
});
