import type { Feature, Pricing } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { Revision } from '../periods/segments.ts';

/** A revision of a plan: what it offers and costs. It never changes. */
export interface PlanRevision extends Revision {
  readonly slug: string;
  readonly currency: string;
  readonly features: readonly Feature[];
  /** Null for a free plan. */
  readonly pricing: Pricing | null;
}

/** Every statement about the revisions of plans. */
export const revisionStore = (sql: Sql) => ({
  async insert(app: string, one: PlanRevision, at: number): Promise<void> {
    await sql`
      insert into billing.plan_revision (app_id, plan_id, revision, slug, currency, features, pricing, created_at)
      values (${app}, ${one.planId}, ${one.revision}, ${one.slug}, ${one.currency}, ${JSON.stringify(one.features)}::text::json,
        ${one.pricing === null ? null : JSON.stringify(one.pricing)}::text::json, ${new Date(at)})`;
  },

  async find(app: string, wanted: readonly Revision[]): Promise<PlanRevision[]> {
    return await sql<PlanRevision[]>`
      select plan_id as "planId", revision, slug, currency, features, pricing
      from unnest(${wanted.map(({ planId }) => planId)}::text[], ${wanted.map(({ revision }) => revision)}::integer[])
        as wanted(plan_id, revision)
      join billing.plan_revision using (plan_id, revision)
      where app_id = ${app}`;
  },

  /** The last revision of a plan that was made before a time; for a time before the plan, its first one. */
  async madeBefore(app: string, planId: string, at: number): Promise<number | undefined> {
    const [last] = await sql<{ revision: number }[]>`
      select revision from billing.plan_revision
      where app_id = ${app} and plan_id = ${planId} and (created_at <= ${new Date(at)} or revision = 1)
      order by revision desc limit 1`;
    return last?.revision;
  },

  /** The names of plans, which change without a revision. */
  async names(app: string, planIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await sql<{ id: string; name: string }[]>`
      select id, name from billing.plan where app_id = ${app} and id = any(${planIds}::text[])`;
    return new Map(rows.map(({ id, name }) => [id, name]));
  },
});
