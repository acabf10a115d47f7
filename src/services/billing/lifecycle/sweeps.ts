import type { Sweep } from '../../../db/sweeps.ts';
import type { Deps } from '../deps.ts';
import { placingStore } from '../usage/placing.store.ts';
import { subscriptionStore } from '../subscriptions/subscriptions.store.ts';
import { system } from '../writes.ts';
import { lockCurrent } from './renewals.ts';
import { repeatedly } from './repetition.ts';

/** A subscription that cannot be brought up to date is tried again after this time, so that it does not hold up the others. */
const patienceMs = 3_600_000;
/** For how long an event that came while its segment was being committed is looked for. */
const placingMs = 15 * 60_000;
/** How many subscriptions are brought up to date at once: the commits of some are awaited while others are computed. */
const atOnce = 4;

/** What time alone changes: trials and periods end, cancellations and resumptions come due, and events find their segments. */
export const lifecycleSweeps = (deps: Deps): Sweep[] => [
  {
    name: 'billing.renewals',
    everyMs: deps.settings.tickMs,
    batch: 100,
    steps: [
      async (batch, signal) => {
        const due = await subscriptionStore(deps.db.sql).due(deps.clock.now(), batch);
        const rest = due.values();
        const lane = async () => {
          for (const one of rest) if (signal?.aborted !== true) await bringUpToDate(deps, one);
        };
        await Promise.all(Array.from({ length: atOnce }, lane));
        return due.length;
      },
    ],
  },
  {
    name: 'billing.placing',
    everyMs: deps.settings.tickMs,
    batch: 1_000,
    steps: [
      async (batch) => {
        const places = await placingStore(deps.db.sql).waiting(deps.clock.now() - placingMs, batch);
        for (const place of places) await placingStore(deps.db.sql).placeAll(place);
        return 0;
      },
    ],
  },
];

/** Brings the live subscription of a tenant up to date that is read before the sweep has come to it. */
export const bringTenantUpToDate =
  (deps: Deps) =>
  async (tenant: string, app: string): Promise<void> => {
    const live = await subscriptionStore(deps.db.sql).live(tenant, app);
    if (live !== undefined) await bringUpToDate(deps, live);
  };

async function bringUpToDate(
  deps: Deps,
  { tenant_id, app_id, id }: { readonly tenant_id: string; readonly app_id: string; readonly id: string },
): Promise<void> {
  const view = { tenant: tenant_id, app: app_id };
  try {
    await repeatedly(() => deps.write(system(tenant_id, app_id), (tx) => lockCurrent(tx, deps, view, id)));
  } catch (error) {
    deps.log.error({ err: error, subscription: id }, 'a subscription could not be brought up to date');
    await subscriptionStore(deps.db.sql).postpone({ tenant_id, id }, deps.clock.now() + patienceMs);
  }
}
