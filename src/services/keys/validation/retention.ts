import { partitionSweep } from '../../../db/day-partitions.ts';
import type { Database } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import { usagePartitions } from './journal.store.ts';
import { usageStore } from './usage.store.ts';

/** How long usage is kept, in milliseconds. */
export interface Retention {
  readonly usageRetention: number;
  readonly hourlyRetention: number;
}

const hour = 3_600_000;

/** Drop usage older than its retention. Records are dropped as whole days, for which no validation ever waits. */
export const usageSweeps = (db: Database, { usageRetention, hourlyRetention }: Retention): Sweep[] => [
  partitionSweep({ db, partitioned: usagePartitions, retentionMs: usageRetention }),
  {
    name: 'keys.usage_counts',
    everyMs: hour,
    batch: 1,
    steps: [
      async () => {
        await usageStore(db.sql).dropHours(hourlyRetention);
        return 0;
      },
      async () => {
        await usageStore(db.sql).dropNotices();
        return 0;
      },
    ],
  },
];
