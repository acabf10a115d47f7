import type { Sweep } from '../../../db/sweeps.ts';
import type { Deps } from '../deps.ts';
import { orderKeyStore } from './order-keys.store.ts';

const dayMs = 86_400_000;

/**
 * Forgets order keys that are no longer used, of which there may be one for each event. The deliveries of a key must have ended by then,
 * because numbers that begin anew would overtake them; the oldest that can wait is as old as the settings allow.
 */
export const orderKeySweep = ({ db, settings }: Pick<Deps, 'db' | 'settings'>): Sweep => ({
  name: 'webhooks.order_keys',
  everyMs: 600_000,
  batch: 5_000,
  steps: [(most) => orderKeyStore(db.sql).forget(settings.maxAgeMs + dayMs, most)],
});
