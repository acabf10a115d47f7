import type { Sweep } from '../../../db/sweeps.ts';
import type { Deps } from '../deps.ts';
import { sweepStore } from './sweeps.store.ts';

/** The most rows of one statement. */
const batch = 5_000;
const dayMs = 86_400_000;

/** Ends what is too old, and deletes what is no longer kept. */
export function sweeps({ db, settings }: Pick<Deps, 'db' | 'settings'>): Sweep[] {
  const { retentionMs, maxAgeMs } = settings;
  const store = sweepStore(db.sql);
  return [
    {
      name: 'webhooks.ends',
      everyMs: 10_000,
      // A delivery that expires leaves several rows behind.
      batch: 500,
      steps: [
        (most) => db.transaction((sql) => sweepStore(sql).expire(maxAgeMs, most)),
        (most) => store.cancel(most),
        (most) => store.forgetEndpoints(most),
      ],
    },
    { name: 'webhooks.keys', everyMs: 10_000, batch, steps: [(most) => store.forgetKeys(most)] },
    { name: 'webhooks.tallies', everyMs: 60_000, batch, steps: [(most) => store.foldTallies(most)] },
    {
      name: 'webhooks.retention',
      everyMs: 600_000,
      batch,
      steps: [
        (most) => store.forgetDeliveries(retentionMs, most),
        (most) => store.forgetAttempts(retentionMs, most),
        (most) => store.forgetDeadLetters(retentionMs, most),
        // A dead letter is kept as long as its delivery, and its event as long as it can be replayed.
        (most) => store.forgetEvents(retentionMs + maxAgeMs + dayMs, most),
      ],
    },
  ];
}
