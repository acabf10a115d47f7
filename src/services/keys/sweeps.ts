import type { Database, Log, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import { periodic } from '../../db/periodic.ts';
import { type Found, sweepStore } from './sweeps.store.ts';
import { usageStore } from './validation/usage.store.ts';

/** Rows of one transaction of a sweep. */
const batch = 500;
const minute = 60_000;
const day = 24 * 60 * minute;

/** What time does to keys: it is stored and told every minute; what nobody asks for any more is deleted every day. */
export function startSweeps({ db, log }: { db: Database; log: Log }): { stop(): Promise<unknown> } {
  const sweeps = [
    periodic({ db, log, name: 'keys.expiry', everyMs: minute, run: (signal) => sweepExpiry(db, signal) }),
    periodic({ db, log, name: 'keys.cleanup', everyMs: day, run: (signal) => sweepRemains(db, signal) }),
  ];
  return { stop: () => Promise.all(sweeps.map((sweep) => sweep.stop())) };
}

/** Stores which keys have expired and tells which are about to. */
export async function sweepExpiry(db: Database, signal?: AbortSignal): Promise<void> {
  await inBatches(signal, () =>
    db.transaction(async (sql) => {
      const expired = await sweepStore(sql).expire(batch);
      await tell(sql, expired, (key) => ({ type: 'keys.key.expired', data: { expires_at: key.expires_at } }));
      return expired.length;
    }),
  );
  await inBatches(signal, () =>
    db.transaction(async (sql) => {
      const ending = await sweepStore(sql).warn(batch);
      await tell(sql, ending, ({ expires_at, days }) => ({
        type: 'keys.key.expiring',
        data: { expires_at, days },
      }));
      return ending.length;
    }),
  );
}

/** Deletes the hashes of dead secrets, the counters of idle keys, and deleted keys without usage. */
export async function sweepRemains(db: Database, signal?: AbortSignal): Promise<void> {
  await inBatches(signal, () => sweepStore(db.sql).forgetSecrets(batch));
  await usageStore(db.sql).dropIdleWindows();
  await inBatches(signal, () => sweepStore(db.sql).forgetKeys(batch));
}

/** Until a batch is not full any more, or the process is asked to end. */
async function inBatches(signal: AbortSignal | undefined, step: () => Promise<number>): Promise<void> {
  while ((await step()) === batch && signal?.aborted !== true);
}

async function tell<Key extends Found>(
  sql: Sql,
  keys: readonly Key[],
  what: (key: Key) => Pick<Event, 'type' | 'data'>,
): Promise<void> {
  const [first, ...rest] = keys.map((key): Event => {
    const { tenant_id: tenant, app_id: app, id: subject } = key;
    return { source: '/keys', subject, tenant, app, actor: 'keys', ...what(key) };
  });
  if (first !== undefined) await emit(sql, first, ...rest);
}
