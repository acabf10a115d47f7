import { periodic } from '../../db/periodic.ts';
import type { Deps } from './deps.ts';
import { oneTimeStore } from './one-time.store.ts';
import { throttleStore } from './throttles.store.ts';

const batch = 1_000;

/** Deletes what counts no more: failures of long ago, and tokens of messages that expired. */
export const startAccountSweep = ({ db, log }: Pick<Deps, 'db' | 'log'>): { stop(): Promise<void> } =>
  periodic({
    db,
    log,
    name: 'auth.accounts',
    everyMs: 10 * 60_000,
    async run(signal) {
      while ((await throttleStore(db.sql).forget(batch)) === batch && !signal.aborted);
      while ((await oneTimeStore(db.sql).forget(batch)) === batch && !signal.aborted);
    },
  });
