/** Renewals that are due, against updates of as many rows; and a look that finds none, with few subscriptions and with many. */
import { pino } from 'pino';
import type { Database } from '../../src/db/index.ts';
import { runSweep } from '../../src/db/sweeps.ts';
import { readSettings } from '../../src/lib/settings.ts';
import { lifecycleSweeps } from '../../src/services/billing/lifecycle/sweeps.ts';
import { noLimits } from '../../src/services/billing/money/charge-limits.ts';
import { createRevisions } from '../../src/services/billing/plans/revisions.ts';
import { settings } from '../../src/services/billing/settings.ts';
import { subscriptionStore } from '../../src/services/billing/subscriptions/subscriptions.store.ts';
import { createWriter } from '../../src/services/billing/writes.ts';
import { analyze, onServer } from '../jobs/place.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { mean, timed } from '../statistics.ts';
import { subscribe } from './service.ts';

const monthMs = 31 * 86_400_000;

const sweepBy = (db: Database, now: number) => {
  const [renewals] = lifecycleSweeps({
    db,
    write: createWriter({ db }),
    settings: readSettings(settings, {}),
    log: pino({ level: 'error' }),
    clock: { now: () => now },
    revisions: createRevisions(),
    chargeLimits: noLimits,
  });
  return () => runSweep(renewals!);
};

export function renewal(): AsyncIterable<Row> {
  const due = sized(10_000, 50);
  const path = `renewal of ${due} subscriptions that are due`;
  return onServer(path, '≤ 6 ×', async function* ({ db }) {
    const tenants = Array.from({ length: due }, (_, at) => `tenant-${at}`);
    await subscribe(db, tenants);
    await db.sql`update billing.subscription set next_action_at = current_period_end`;
    await analyze(db);
    const updates = await timed(async () => {
      for (const tenant of tenants)
        await db.transaction(
          (sql) => sql`update billing.subscription set metadata = '{"n":1}' where tenant_id = ${tenant}`,
        );
    });
    const renewals = await timed(sweepBy(db, Date.now() + monthMs));
    const [{ left }] = await db.sql<[{ left: number }]>`
      select count(*)::integer as left from billing.subscription where current_period_end <= ${new Date(Date.now() + monthMs)}`;
    if (left > 0) throw new Error(`${left} subscriptions were not renewed`);
    yield atMostTimes(renewals / updates, 6, {
      path,
      baseline: 'as many transactions that update one row',
      measured: `${round((due * 1_000) / renewals)}/s against ${round((due * 1_000) / updates)}/s`,
    });
  });
}

export function idleTick(): AsyncIterable<Row> {
  const [few, many] = [100, sized(1_000_000, 1_000)];
  const path = `a look for renewals when none is due, ${many} subscriptions`;
  return onServer(path, '≤ 1.5 ×', async function* ({ db }) {
    const later = new Date(Date.now() + monthMs);
    const look = () => mean(500, () => subscriptionStore(db.sql).due(Date.now(), 100));
    const fill = async (from: number, until: number) => {
      for (let at = from; at < until; at += 20_000) {
        const batch = Array.from({ length: Math.min(20_000, until - at) }, (_, n) => `tenant-${at + n}`);
        await subscribe(db, batch);
        await db.sql`update billing.subscription set next_action_at = ${later} where tenant_id = any(${batch})`;
      }
      await analyze(db);
    };
    await fill(0, few);
    await look();
    const withFew = await look();
    await fill(few, many);
    await look();
    const withMany = await look();
    yield atMostTimes(withMany / withFew, 1.5, {
      path,
      baseline: `${few} subscriptions`,
      measured: `${round(withMany)} ms against ${round(withFew)} ms`,
    });
  });
}
