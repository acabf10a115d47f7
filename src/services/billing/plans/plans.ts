import type { Plans } from '../../../../generated/billing/server.ts';
import type { Plan, PlanCreate, PlanStatus, PlanUpdate } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { PlanNotFound, Refused } from '../errors.ts';
import { checkMetadata } from '../metadata.ts';
import { isCurrency } from '../money/money.ts';
import { pageOf } from '../pages.ts';
import { isChanged, previousOf } from '../previous.ts';
import type { Write } from '../writes.ts';
import { contentsOf } from './contents.ts';
import { planStore } from './plans.store.ts';
import { slugOf } from './slug.ts';

/** Plans: the offers of an app, which the operator makes and all its tenants see, but for drafts. */
export const plans = ({ db, write, clock }: Pick<Deps, 'db' | 'write' | 'clock'>) => {
  return {
    async create({ body }, context) {
      const plan = newPlan(body, context.app, clock.now());
      return await write(context, async ({ sql, emit }) => {
        await planStore(sql).insert(plan);
        emit('billing.plan.created', plan, plan);
        return plan;
      });
    },

    async list({ status, ...page }, { app, operator: seesDrafts }) {
      return pageOf(page, await planStore(db.sql).list(app, { status, seesDrafts }, page), (plan) => plan);
    },

    async get({ plan: ref }, { app, operator: seesDrafts }) {
      const plan = await planStore(db.sql).find(app, ref);
      if (plan === undefined || (plan.status === 'draft' && !seesDrafts)) throw PlanNotFound();
      return plan;
    },

    async update({ plan: ref, body }, context) {
      return await write(context, async (tx) => {
        const before = await locked(tx.sql, context.app, ref);
        if (before.status === 'archived') throw Refused('plan_archived', 'plan is archived');
        const after = changedPlan(before, body, clock.now());
        if (after.revision !== before.revision) await planStore(tx.sql).insertRevision(after);
        return await stored(tx, 'billing.plan.updated', before, after);
      });
    },

    async delete({ plan: ref }, context) {
      await write(context, async ({ sql, emit }) => {
        const plan = await locked(sql, context.app, ref);
        if (await planStore(sql).isUsed(plan))
          throw Refused('plan_in_use', 'plan has live subscriptions: archive it instead');
        await planStore(sql).delete(plan, clock.now());
        emit('billing.plan.deleted', plan, plan);
      });
    },

    activate: ({ plan }, context) => switched(context, plan, 'active'),

    archive: ({ plan }, context) => switched(context, plan, 'archived'),
  } satisfies Plans<Context>;

  /** Gives a plan a status. One that has it already does not change. */
  async function switched(context: Context, ref: string, status: PlanStatus): Promise<Plan> {
    return await write(context, async (tx) => {
      const before = await locked(tx.sql, context.app, ref);
      const after = { ...before, status, updated_at: new Date(clock.now()).toISOString() };
      return await stored(
        tx,
        status === 'active' ? 'billing.plan.activated' : 'billing.plan.archived',
        before,
        after,
      );
    });
  }
};

async function locked(sql: Sql, app: string, ref: string): Promise<Plan> {
  const plan = await planStore(sql).lock(app, ref);
  if (plan === undefined) throw PlanNotFound();
  return plan;
}

async function stored(
  { sql, emit }: Write,
  type: `billing.plan.${string}`,
  before: Plan,
  after: Plan,
): Promise<Plan> {
  if (!isChanged(before, after)) return before;
  await planStore(sql).update(after);
  emit(type, after, { ...after, previous: previousOf(before, after) });
  return after;
}

function newPlan(
  { name, slug = slugOf(name), currency, ...body }: PlanCreate,
  app: string,
  now: number,
): Plan {
  if (!isCurrency(currency)) throw Invalid('currency: must be a currency code');
  checkMetadata(body.metadata);
  const at = new Date(now).toISOString();
  return {
    id: newId('plan'),
    name,
    slug,
    description: body.description,
    currency,
    status: body.status,
    trial_days: body.trial_days,
    trial_requires_payment_method: body.trial_requires_payment_method,
    revision: 1,
    ...contentsOf(body, currency),
    app_id: app,
    metadata: body.metadata,
    created_at: at,
    updated_at: at,
  };
}

/** The plan after a change. New features must fit the prices that stay, and new prices the features. */
function changedPlan(before: Plan, { features, pricing, ...body }: PlanUpdate, now: number): Plan {
  if (body.metadata) checkMetadata(body.metadata);
  const sent = {
    features: features ?? before.features,
    pricing: pricing === undefined ? before.pricing : pricing,
  };
  const contents = contentsOf(sent, before.currency);
  const { features: oldFeatures, pricing: oldPricing } = before;
  const isRevised = isChanged({ features: oldFeatures, pricing: oldPricing }, contents);
  const revision = before.revision + (isRevised ? 1 : 0);
  return { ...before, ...body, ...contents, revision, updated_at: new Date(now).toISOString() };
}
