import { periodic } from '../../db/periodic.ts';
import { challengeStore } from './challenges.store.ts';
import type { Deps } from './deps.ts';
import { enrollmentStore } from './enrollments.store.ts';
import { messageStore } from './messages.store.ts';
import { longestQuotaSeconds } from './text-quota.ts';
import { textSendStore } from './text-sends.store.ts';

const batch = 1_000;

/** Deletes what is over: challenges, factors that nobody verified, counts of texts, messages of last week. */
export const startFactorSweep = ({ db, log }: Pick<Deps, 'db' | 'log'>): { stop(): Promise<void> } =>
  periodic({
    db,
    log,
    name: 'auth.factors',
    everyMs: 10 * 60_000,
    async run(signal) {
      const steps = [
        () => challengeStore(db.sql).forget(batch),
        () => enrollmentStore(db.sql).forget(batch),
        () => textSendStore(db.sql).forget(batch, longestQuotaSeconds),
        () => messageStore(db.sql).prune(batch),
      ];
      for (const step of steps) while ((await step()) === batch && !signal.aborted);
    },
  });
