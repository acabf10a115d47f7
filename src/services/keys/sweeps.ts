import type { Database, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import { forgetIdleRates } from '../../db/rates/stored-rates.ts';
import type { Sweep } from '../../db/sweeps.ts';
import { type Found, sweepStore } from './sweeps.store.ts';

/** Rows per transaction of a sweep. */
const batch = 500;
const minute = 60_000;
const day = 24 * 60 * minute;

/** Stores which keys have expired and emits events about these and about keys that expire soon. */
export const expirySweep = (db: Database): Sweep => ({
  name: 'keys.expiry',
  everyMs: minute,
  batch,
  steps: [
    (most) =>
      db.transaction(async (sql) => {
        const expired = await sweepStore(sql).expire(most);
        await tell(sql, expired, (key) => ({
          type: 'keys.key.expired',
          data: { expires_at: key.expires_at },
        }));
        return expired.length;
      }),
    (most) =>
      db.transaction(async (sql) => {
        const ending = await sweepStore(sql).warn(most);
        await tell(sql, ending, ({ expires_at, days }) => ({
          type: 'keys.key.expiring',
          data: { expires_at, days },
        }));
        return ending.length;
      }),
  ],
});

/** Deletes the hashes of dead secrets, the counters of idle keys, and deleted keys without usage. */
export const remainsSweep = (db: Database): Sweep => ({
  name: 'keys.cleanup',
  everyMs: day,
  batch,
  steps: [
    (most) => sweepStore(db.sql).forgetSecrets(most),
    (most) => forgetIdleRates(db.sql, 'keys', most),
    (most) => sweepStore(db.sql).forgetKeys(most),
  ],
});

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
