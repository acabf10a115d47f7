import type { Sweep } from '../../../db/sweeps.ts';
import type { Deps } from '../deps.ts';
import { providerEventStore } from './provider-events.store.ts';

/** Providers repeat a notification for some days; this is far longer. */
const keptMs = 90 * 24 * 3_600_000;

/** Forgets which notifications have had their effect. */
export const providerEventSweep = ({ db, clock }: Pick<Deps, 'db' | 'clock'>): Sweep => ({
  name: 'billing.provider-events',
  everyMs: 3_600_000,
  batch: 1_000,
  steps: [(batch) => providerEventStore(db.sql).prune(clock.now() - keptMs, batch)],
});
