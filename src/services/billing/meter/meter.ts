import { Big } from 'big.js';
import type { Meter } from '../../../../generated/billing/server.ts';
import type { Granularity } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { checkOwnItems } from '../../../http/own-scope.ts';
import { viewOf } from '../../../http/view.ts';
import type { Deps } from '../deps.ts';
import { isRestarting } from '../plans/features.ts';
import type { Grants } from '../entitlements/grants.ts';
import { FeatureNotFound, InvalidState, SubscriptionNotFound, UsageEventNotFound } from '../errors.ts';
import { instantOf } from '../moments.ts';
import { shownQuantity } from '../money/quantities.ts';
import { pageOf } from '../pages.ts';
import { usageStore } from './events.store.ts';
import { coverage } from './history.ts';
import { recorded, recordedBatch, type RecordingDeps } from './recording.ts';
import { shownEvent } from './views.ts';

export type MeterDeps = Pick<Deps, 'write'> & RecordingDeps & { readonly grants: Grants };

const units = { daily: 'day', weekly: 'week', monthly: 'month' } as const satisfies Record<
  Granularity,
  string
>;

/** Meter: what tenants use, stored and counted exactly once. */
export const meter = (deps: MeterDeps) => {
  const { db, write, clock, grants } = deps;

  /** How a subscription stands, whose plan has a feature of this key. */
  const grantOf = async (context: Context, subscriptionId: string, featureKey: string) => {
    const grant = await grants.ofSubscription(viewOf(context), subscriptionId, [featureKey]);
    if (grant === undefined) throw SubscriptionNotFound();
    const feature = grant.featureOf(featureKey);
    if (feature === undefined) throw FeatureNotFound();
    return { grant, feature };
  };

  return {
    async record({ body }, context) {
      return { id: await recorded(deps, context, body), status: 'buffered' };
    },

    async recordBatch({ body: { events } }, context) {
      checkOwnItems(context, 'events', events);
      return await recordedBatch(deps, context, events);
    },

    async list({ limit, offset, tenant_id, start, end, ...filter }, context) {
      const within = { start: instantOf(start, 'start'), end: instantOf(end, 'end') };
      const page = { limit, offset };
      const found = await usageStore(db.sql).list(viewOf(context, tenant_id), { ...filter, ...within }, page);
      return pageOf(page, found, shownEvent);
    },

    async get({ id }, context) {
      const row = await usageStore(db.sql).find(viewOf(context), id);
      if (row === undefined) throw UsageEventNotFound();
      return shownEvent(row);
    },

    async void({ id, body }, context) {
      return await write(context, async ({ sql, emit }) => {
        const row = await usageStore(sql).lock(viewOf(context), id);
        if (row === undefined) throw UsageEventNotFound();
        const reason = body?.reason ?? null;
        if (row.status === 'voided' && row.void_reason === reason) return shownEvent(row);
        if (row.status === 'voided') throw InvalidState('usage event is voided');
        await usageStore(sql).void(row, reason);
        const voided = shownEvent({ ...row, status: 'voided', void_reason: reason });
        emit('billing.event.voided', voided, voided);
        return voided;
      });
    },

    async usage({ subscriptionId, meter: featureKey }, context) {
      const { grant, feature } = await grantOf(context, subscriptionId, featureKey);
      const { used, limit, remaining, resets_at } = grant.entitlementTo(featureKey);
      return {
        feature_key: featureKey,
        subscription_id: subscriptionId,
        current_usage: used,
        limit,
        remaining,
        period_start: isRestarting(feature) ? grant.windowStart : grant.countsFrom,
        period_end: resets_at,
      };
    },

    async history({ subscriptionId, meter: featureKey, granularity, ...sent }, context) {
      const { grant } = await grantOf(context, subscriptionId, featureKey);
      const [start, end] = [instantOf(sent.start, 'start'), instantOf(sent.end, 'end') ?? clock.now()];
      const { buckets, firstDay: from, lastDay: to } = coverage({ start, end, granularity });
      const used =
        buckets.length === 0
          ? new Map<string, string>()
          : await usageStore(db.sql).byBucket(grant, featureKey, { unit: units[granularity], from, to });
      const data = buckets.map((period) => ({
        period,
        usage: shownQuantity(new Big(used.get(period) ?? 0)),
      }));
      return { feature_key: featureKey, data };
    },
  } satisfies Meter<Context>;
};
