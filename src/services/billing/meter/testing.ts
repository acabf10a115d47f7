import { pino } from 'pino';
import type { Feature } from '../../../../generated/billing/types.ts';
import { openDatabase, type Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { ChildDatabase } from '../../../testing/database.ts';
import { type Course, beginning } from '../periods/course.ts';
import { type PlanRevision, revisionStore } from '../plans/revisions.store.ts';
import { termsOf } from '../plans/revisions.ts';
import { segmentStore } from '../subscriptions/segments.store.ts';
import { subscriptionStore } from '../subscriptions/subscriptions.store.ts';
import { type Sums, testingStore } from './testing.store.ts';

/** The features of the plan of these tests. */
export const planFeatures: readonly Feature[] = [
  { key: 'calls', name: 'Calls', type: 'metered', limit: 1_000, period: 'monthly', soft_limit: false },
  { key: 'storage', name: 'Storage', type: 'metered', limit: -1, period: 'none', soft_limit: false },
  { key: 'seats', name: 'Seats', type: 'seat', limit: 5, period: 'none', soft_limit: true },
  { key: 'sso', name: 'Single sign-on', type: 'boolean', limit: 1, period: 'none', soft_limit: false },
  { key: 'beta', name: 'Beta', type: 'boolean', limit: 0, period: 'none', soft_limit: false },
];

const app = 'default';

interface Subscribing {
  readonly tenant: string;
  /** When the subscription begins, in milliseconds since 1970. */
  readonly at: number;
  readonly features?: readonly Feature[];
}

/** What the tests need to know of a subscription that they made. */
export interface Subscribed {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly plan: PlanRevision;
  readonly course: Course;
}

/** Gives a tenant a subscription to a monthly plan of its own. */
export async function subscribed(
  sql: Sql,
  { tenant, at, features = planFeatures }: Subscribing,
): Promise<Subscribed> {
  const plan = await planned(sql, features, at);
  const course = beginning(termsOf(plan), { start: at, trialEnd: at });
  const owner = { tenant_id: tenant, id: newId('sub'), app_id: app };
  const time = new Date(at).toISOString();
  const { period } = course.segments[0]!;
  await subscriptionStore(sql).insert({
    ...owner,
    ...{ plan_id: plan.planId, status: 'active', customer_id: null, billing_period: 'monthly' },
    ...{
      starts_at: time,
      anchor: time,
      window_anchor: time,
      counts_from: time,
      created_at: time,
      updated_at: time,
    },
    current_period_start: time,
    current_period_end: new Date(period.end).toISOString(),
    ...{
      trial_start: null,
      trial_end: null,
      trial_granted: null,
      cancel_at: null,
      canceled_at: null,
      ended_at: null,
    },
    ...{ resume_at: null, next_action_at: null, trial_ending_told: false, metadata: {} },
  });
  await segmentStore(sql).replaceFrom(owner, at, course.segments);
  return { ...owner, plan, course };
}

async function planned(sql: Sql, features: readonly Feature[], at: number): Promise<PlanRevision> {
  const planId = newId('plan');
  const plan = { planId, revision: 1, slug: planId.slice(5), currency: 'usd', features, pricing: null };
  await testingStore(sql).insertPlan(app, plan, at);
  await revisionStore(sql).insert(app, plan, at);
  return plan;
}

/** Makes another revision of a plan the current one, as an update of the plan does. */
export async function revised(sql: Sql, plan: PlanRevision, features: readonly Feature[]): Promise<void> {
  const next = { ...plan, revision: plan.revision + 1, features };
  await revisionStore(sql).insert(app, next, 0);
  await testingStore(sql).setRevision(app, next);
}

/** Uses the database of server processes directly, which on the embedded engine must not run meanwhile. */
export async function within<T>({ url, env }: ChildDatabase, use: (sql: Sql) => Promise<T>): Promise<T> {
  const db = await openDatabase({
    url,
    connections: 8,
    dataDir: env.PLINTH_DATA_DIR,
    log: pino({ level: 'silent' }),
  });
  try {
    return await use(db.sql);
  } finally {
    await db.close();
  }
}

/** What is stored of a tenant. */
export const sumsOf = (sql: Sql, tenant: string): Promise<Sums> => testingStore(sql).sums(tenant);

/** The same statements, but the database returns how it has run them instead of their rows. */
export const explaining = (sql: Sql): Sql =>
  new Proxy(sql, {
    apply(target, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const [first = '', ...others] = strings;
      const isWhole = first.trimStart().startsWith('select ');
      const texts = isWhole
        ? [`explain (analyze, costs off, timing off, summary off) ${first}`, ...others]
        : [...strings];
      return Reflect.apply(target, self, [Object.assign(texts, { raw: texts }), ...values]) as unknown;
    },
  });

/** How a statement was run, by what it returned instead of its rows. */
export const planIn = (rows: readonly object[]): string =>
  rows.map((row) => String(Object.values(row)[0])).join('\n');
