import type { Database } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import { appendStore } from './append.store.ts';

/** Forgets idempotency keys whose time is over. */
export const keySweep = ({ db }: { readonly db: Database }): Sweep => ({
  name: 'audit.event_keys',
  everyMs: 3_600_000,
  batch: 5_000,
  steps: [(most) => appendStore(db.sql).expireKeys(most)],
});
