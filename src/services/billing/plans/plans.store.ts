import type { Plan, PlanStatus } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { largeRows } from '../../../db/large-rows.ts';
import { counted, newestById, onePage, type PageRequest } from '../pages.store.ts';
import { revisionStore } from './revisions.store.ts';

export interface PlanFilter {
  readonly status?: PlanStatus | undefined;
  readonly seesDrafts: boolean;
}

/** What a subscription needs to know of its plan. */
export type SubscribablePlan = Pick<
  Plan,
  'id' | 'slug' | 'name' | 'status' | 'currency' | 'revision' | 'trial_days' | 'trial_requires_payment_method'
>;

/** The most bytes of features and prices of a page: a plan has up to 100 KiB of them, and a client asks for up to a hundred. */
const mostBytes = 1_024 * 1_024;

/** Every statement about plans. Deleted ones are kept for their invoices, and found by none of them. */
export const planStore = (sql: Sql) => ({
  /** @throws the violation of `plan_slug` when another plan of the app has the slug */
  async insert({ features, pricing, ...row }: Plan): Promise<void> {
    await sql`insert into billing.plan ${sql(row)}`;
    await this.insertRevision({ ...row, features, pricing });
  },

  /** Stores the contents of a plan under the number of its revision. */
  async insertRevision({ app_id, id, updated_at, ...plan }: Plan): Promise<void> {
    await revisionStore(sql).insert(app_id, { ...plan, planId: id }, Date.parse(updated_at));
  },

  /** Finds a plan by its id or its slug. */
  async find(app: string, ref: string): Promise<Plan | undefined> {
    const [plan] = await sql<Plan[]>`
      select ${columns(sql)} from ${withContents(sql)} where ${isNamed(sql, app, ref)}`;
    return plan;
  },

  async list(app: string, { status, seesDrafts }: PlanFilter, page: PageRequest) {
    const chosen = sql`
      where plan.app_id = ${app} and deleted_at is null ${status === undefined ? sql`` : sql`and status = ${status}`}
        ${seesDrafts ? sql`` : sql`and status <> 'draft'`}`;
    const rows = sql`select ${columns(sql)} from ${withContents(sql)} ${chosen} ${onePage(sql, page)}`;
    const [found, total] = await Promise.all([
      largeRows<Plan>(sql, newestById, rows, {
        of: sql`octet_length(features::text) + coalesce(octet_length(pricing::text), 0)`,
        most: mostBytes,
      }),
      counted(sql, sql`from billing.plan ${chosen}`),
    ]);
    return { rows: found.rows, total, isCut: found.cut !== undefined };
  },

  /** Locks a plan until the end of the transaction, against every other change of it and against new subscriptions. */
  async lock(app: string, ref: string): Promise<Plan | undefined> {
    const [locked] = await sql<{ id: string }[]>`
      select id from billing.plan where ${isNamed(sql, app, ref)} for update`;
    // Its contents are read by another statement, because the locking one would look for the revision before the lock.
    return locked && (await this.find(app, locked.id));
  },

  /**
   * Holds a plan as it is until the end of the transaction that subscribes to it, so that it is not archived or deleted meanwhile. Any
   * number of transactions may hold it.
   */
  async lockForSubscription(app: string, planId: string): Promise<SubscribablePlan | undefined> {
    const [plan] = await sql<SubscribablePlan[]>`
      select id, slug, name, status, currency, revision, trial_days, trial_requires_payment_method from billing.plan
      where app_id = ${app} and id = ${planId} and deleted_at is null for key share`;
    return plan;
  },

  async update({ app_id, id, ...plan }: Plan): Promise<void> {
    const {
      name,
      description,
      status,
      trial_days,
      trial_requires_payment_method,
      revision,
      metadata,
      updated_at,
    } = plan;
    await sql`
      update billing.plan
      set ${sql({ name, description, status, trial_days, trial_requires_payment_method, revision, metadata, updated_at })}
      where app_id = ${app_id} and id = ${id}`;
  },

  /** Whether a plan has live subscriptions. */
  async isUsed({ app_id, id }: Plan): Promise<boolean> {
    const found = await sql`
      select from billing.subscription
      where app_id = ${app_id} and plan_id = ${id} and status in ('trialing', 'active', 'past_due', 'paused') limit 1`;
    return found.length > 0;
  },

  /** Makes a plan unreachable and its slug free. */
  async delete({ app_id, id }: Plan, at: number): Promise<void> {
    await sql`update billing.plan set deleted_at = ${new Date(at)} where app_id = ${app_id} and id = ${id}`;
  },
});

/** An id begins with its prefix, and a slug never does. */
const isNamed = (sql: Sql, app: string, ref: string) => sql`
  plan.app_id = ${app} and deleted_at is null and ${ref.startsWith('plan_') ? sql`id = ${ref}` : sql`plan.slug = ${ref}`}`;

const withContents = (sql: Sql) => sql`
  billing.plan join billing.plan_revision as contents
    on contents.app_id = plan.app_id and contents.plan_id = plan.id and contents.revision = plan.revision`;

const columns = (sql: Sql) => sql`
  id, name, plan.slug, description, plan.currency, status, trial_days, trial_requires_payment_method, plan.revision, features, pricing,
  plan.app_id, metadata, plan.created_at, updated_at`;
