import { Big } from 'big.js';
import type { EntitlementResult, Feature } from '../../../../generated/billing/types.ts';
import { batchedReads } from '../../../db/batched-reads.ts';
import type { View } from '../../../db/view.ts';
import type { Deps } from '../deps.ts';
import type { PlanRevision } from '../plans/revisions.ts';
import { isRestarting } from '../plans/features.ts';
import { entitlement } from './decision.ts';
import { type GrantRow, grantStore, type WantedGrant } from './grants.store.ts';

/**
 * How a subscription stands now: what its plan offers, and what its tenant has used of the features that were asked for. Limits belong to
 * the tenant: use under its earlier subscriptions counts.
 */
export interface Grant extends Pick<GrantRow, 'tenant_id' | 'id' | 'status'> {
  /** When the counters that never restart began. */
  readonly countsFrom: string;
  /** When the monthly counters began. */
  readonly windowStart: string;
  readonly plan: PlanRevision;
  featureOf(featureKey: string): Feature | undefined;
  /** Decides about a feature that was asked for. */
  entitlementTo(featureKey: string, quantity?: Big): EntitlementResult;
}

/** Reads how subscriptions stand. No answer is stale: of what it reads, only revisions of plans are in memory, which never change. */
export interface Grants {
  /** The live subscription of a tenant. */
  ofTenant(tenant: string, app: string, featureKeys: readonly string[]): Promise<Grant | undefined>;
  /** The live subscription of a tenant, with what it has used of every feature of its plan. */
  ofTenantWhole(tenant: string, app: string): Promise<Grant | undefined>;
  /** A subscription, whether it is live or not. */
  ofSubscription(view: View, id: string, featureKeys: readonly string[]): Promise<Grant | undefined>;
}

export interface GrantDeps extends Pick<Deps, 'db' | 'clock' | 'revisions'> {
  /**
   * Brings the live subscription of a tenant up to date when no segment covers now, because a renewal is late. Without it, or when it
   * changes nothing, the last segment counts as running on.
   */
  readonly current?: (tenant: string, app: string) => Promise<void>;
}

export function createGrants({ db, clock, revisions, current }: GrantDeps): Grants {
  const store = grantStore(db.sql);

  async function grant(
    app: string,
    read: () => PromiseLike<readonly GrantRow[]>,
  ): Promise<Grant | undefined> {
    let rows = await read();
    const [found] = rows;
    if (found !== undefined && isLate(found) && current !== undefined) {
      await current(found.tenant_id, app);
      rows = await read();
    }
    const [row] = rows;
    if (row === undefined) return undefined;
    const revision = { planId: row.plan_id, revision: row.revision };
    const plan = (await revisions.read(db.sql, app, [revision]))(revision);
    return grantOf(row, plan, rows);
  }

  /** Checks that come at once share a statement, which is sent after all of them have come. */
  const together = batchedReads<WantedGrant, readonly GrantRow[]>(
    async (wanted) => rowsByName(wanted, await store.ofTenants(wanted, clock.now())),
    nameOf,
    mostAtOnce,
  );

  const ofTenant: Grants['ofTenant'] = (tenant, app, featureKeys) =>
    grant(app, async () => (await together({ tenant, app, featureKeys })) ?? []);

  return {
    ofTenant,

    async ofTenantWhole(tenant, app) {
      let asked: readonly string[] = [];
      for (;;) {
        const found = await ofTenant(tenant, app, asked);
        const keys = found?.plan.features.map(({ key }) => key) ?? [];
        // A plan that was changed since the last look may have features that were not asked for.
        if (keys.every((key) => asked.includes(key))) return found;
        asked = keys;
      }
    },

    ofSubscription: (view, id, featureKeys) =>
      grant(view.app, () => store.ofSubscription(view, id, clock.now(), featureKeys)),
  };
}

/** The most statements of checks in flight. */
const mostAtOnce = 2;

const nameOf = ({ tenant, app, featureKeys }: WantedGrant) => `${tenant} ${app} ${featureKeys.join(' ')}`;

function rowsByName(wanted: readonly WantedGrant[], rows: readonly GrantRow[]): Map<string, GrantRow[]> {
  const found = new Map<string, GrantRow[]>();
  for (const row of rows) {
    const name = nameOf(wanted[row.nth - 1]!);
    const others = found.get(name);
    if (others === undefined) found.set(name, [row]);
    else others.push(row);
  }
  return found;
}

const isLate = ({ status, is_covered }: GrantRow): boolean =>
  !is_covered && status !== 'canceled' && status !== 'expired';

const zero = new Big(0);

function grantOf(row: GrantRow, plan: PlanRevision, rows: readonly GrantRow[]): Grant {
  const features = new Map(plan.features.map((feature) => [feature.key, feature]));
  const uses = new Map(rows.map((one) => [one.feature_key, one]));
  return {
    tenant_id: row.tenant_id,
    id: row.id,
    status: row.status,
    countsFrom: row.counts_from,
    windowStart: row.window_start,
    plan,
    featureOf: (featureKey) => features.get(featureKey),
    entitlementTo(featureKey, quantity = new Big(1)) {
      const feature = features.get(featureKey);
      const use = uses.get(featureKey);
      const sum = feature !== undefined && isRestarting(feature) ? use?.in_window : use?.of_all_time;
      const used = sum === undefined || sum === null ? zero : new Big(sum);
      return entitlement(featureKey, feature, { used, resetsAt: row.window_end }, quantity);
    },
  };
}
