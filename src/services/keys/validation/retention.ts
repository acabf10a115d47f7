import type { Database, Log } from '../../../db/index.ts';
import { periodic } from '../../../db/periodic.ts';
import { journalStore } from './journal.store.ts';
import { usageStore } from './usage.store.ts';

/** How long usage is kept, in milliseconds. */
export interface Retention {
  readonly usageRetention: number;
  readonly hourlyRetention: number;
}

const hour = 3_600_000;

/** Adds the partitions of the days to come and drops what is older than its retention, every hour. */
export function startRetention(db: Database, retention: Retention, log: Log): { stop(): Promise<void> } {
  return periodic({ db, log, name: 'keys.usage', everyMs: hour, run: () => keepUsage(db, retention) });
}

/** One round of it. Records go by dropping whole days, which no validation ever waits for. */
export async function keepUsage(db: Database, { usageRetention, hourlyRetention }: Retention): Promise<void> {
  await db.transaction(async (sql) => {
    await journalStore(sql).lock();
    await usageStore(sql).addPartitions();
  });
  await db.transaction(async (sql) => {
    await journalStore(sql).lock();
    await usageStore(sql).dropPartitions(usageRetention);
  });
  await usageStore(db.sql).dropHours(hourlyRetention);
  await usageStore(db.sql).dropNotices();
}
