import type { Database } from '../index.ts';
import type { Sweep } from '../sweeps.ts';
import { deadLetterStore } from './dead-letters.store.ts';
import { retentionStore } from './retention.store.ts';
import { runStore } from './runs/runs.store.ts';

export interface Retention {
  /** Milliseconds for which ended jobs are kept. */
  readonly jobsMs: number;
  /** Milliseconds for which dead letters are kept. */
  readonly deadLettersMs: number;
  /** Milliseconds for which ended runs are kept. */
  readonly runsMs: number;
}

/** Deletes ended jobs and runs, dead letters and expired unique keys, every minute in one of the processes. */
export const retentionSweep = (db: Database, { jobsMs, deadLettersMs, runsMs }: Retention): Sweep => ({
  name: 'jobs.retention',
  everyMs: 60_000,
  batch: 5_000,
  steps: [
    (batch) => retentionStore(db.sql).jobs(jobsMs, batch),
    (batch) => retentionStore(db.sql).keys(batch),
    (batch) => deadLetterStore(db.sql).purge({ olderThanMs: deadLettersMs, most: batch }),
    // A run has many rows.
    (batch) => runStore(db.sql).deleteOld(runsMs, Math.ceil(batch / 50)),
  ],
});
