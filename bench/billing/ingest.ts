/** Ingest: against the same rows that nobody counts, against a transaction for each event, with a long history, and at its worst. */
import type { UsageEventCreate } from '../../generated/billing/types.ts';
import { draftOf, type NewUsage } from '../../src/services/billing/meter/new-usage.ts';
import { inSlices } from '../../src/lib/slices.ts';
import { analyze, onServer } from '../jobs/place.ts';
import { atLeast, atMost, atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, paired, quantile, timed } from '../statistics.ts';
import { createPlainTable, fillHistory, insertPlain, openMeter, subscribe, usageOf } from './service.ts';

const ofBatch = 500;
const tenants = Array.from({ length: 50 }, (_, at) => `tenant-${at}`);
const batch = (): NewUsage[] =>
  Array.from({ length: ofBatch }, (_, at) => usageOf(tenants[at % tenants.length]!));

/** Batches of 500 events of 50 tenants. */
export function ingest(): AsyncIterable<Row> {
  const path = 'usage events, batches of 500, 50 tenants';
  return onServer(path, '≥ 0.6 ×', async function* ({ db }) {
    await createPlainTable(db);
    await subscribe(db, tenants);
    await analyze(db);
    const meter = openMeter(db);
    const rate = async (store: (events: NewUsage[]) => Promise<unknown>) => {
      const batches = sized(40, 2);
      const ms = await timed(async () => {
        for (let turn = 0; turn < batches; turn++) await store(batch());
      });
      return (batches * ofBatch * 1_000) / ms;
    };
    const { ratio, a, b } = await paired(
      () => rate((events) => meter.add(events)),
      () => rate((events) => insertPlain(db, events)),
    );
    yield atLeast(ratio, 0.6, {
      path,
      baseline: 'the same rows in one insert, same indexes, not counted',
      measured: `${round(a)}/s against ${round(b)}/s`,
    });
    await meter.close();
  });
}

/** Single events of 64 callers at once, which share commits. */
export function single(): AsyncIterable<Row> {
  const path = 'usage events, single, 64 callers';
  return onServer(path, '≥ 5 ×', async function* ({ db }) {
    await subscribe(db, tenants);
    await analyze(db);
    const [together, alone] = [openMeter(db), openMeter(db, 1)];
    const delays: number[] = [];
    const rate = async (meter: typeof together, events: number) => {
      let left = events;
      const caller = async () => {
        while (left-- > 0) {
          const took = await timed(() => meter.add([usageOf(tenants[left % tenants.length]!)]));
          if (meter === together) delays.push(took);
        }
      };
      const ms = await timed(() => Promise.all(Array.from({ length: 64 }, caller)));
      return (events * 1_000) / ms;
    };
    const { ratio, a, b } = await paired(
      () => rate(together, sized(8_000, 200)),
      () => rate(alone, sized(800, 64)),
      3,
    );
    const measured = `${round(a)}/s against ${round(b)}/s`;
    yield atLeast(ratio, 5, { path, baseline: 'a transaction for each event', measured });
    const commits: number[] = [];
    for (let turn = 0; turn < 50; turn++) {
      const events = Array.from({ length: 64 }, (_, at) => usageOf(tenants[at % tenants.length]!));
      commits.push(await timed(() => alone.add(events)));
    }
    const [p99, commit] = [quantile(delays, 0.99), median(commits)];
    yield atMostTimes(p99 / commit, 4, {
      path: `${path}: p99`,
      baseline: 'a transaction with 64 events',
      measured: `${round(p99)} ms against ${round(commit)} ms`,
    });
    await Promise.all([together.close(), alone.close()]);
  });
}

/** Whether a long history makes ingest slower. */
export function large(): AsyncIterable<Row> {
  const [few, many] = [sized(100_000, 1_000), sized(2_000_000, 10_000)];
  const path = `usage events, a batch of 500 after ${round(many)} others`;
  return onServer(path, '≤ 1.3 ×', async function* ({ db }) {
    await subscribe(db, tenants);
    const meter = openMeter(db);
    const time = async () => {
      await analyze(db);
      const times: number[] = [];
      for (let turn = 0; turn < sized(60, 3); turn++) times.push(await timed(() => meter.add(batch())));
      return median(times);
    };
    await fillHistory(db, tenants[0]!, few);
    const before = await time();
    await fillHistory(db, tenants[1]!, many - few);
    const after = await time();
    yield atMostTimes(after / before, 1.3, {
      path,
      baseline: `after ${round(few)}`,
      measured: `${round(after)} ms against ${round(before)} ms`,
    });
    await meter.close();
  });
}

/** The longest time for which the largest accepted batch keeps everybody else waiting. */
export function stretches(): AsyncIterable<Row> {
  const path = 'the longest stretch of a batch of 1,000 events with 4 MiB';
  return onServer(path, '≤ 50 ms', async function* ({ db }) {
    await subscribe(db, tenants);
    const meter = openMeter(db);
    const metadata = {
      text: '"'.repeat(1_900),
      ...Object.fromEntries(Array.from({ length: 45 }, (_, at) => [`k${at}`, at])),
    };
    const terms = { now: Date.now(), lateWindowMs: 86_400_000, isOperator: false };
    const origin = { tenant: tenants[0]!, app: 'default', ...terms };
    const worst: number[] = [];
    for (let turn = 0; turn < sized(20, 3); turn++) {
      const sent: UsageEventCreate[] = Array.from({ length: 1_000 }, () => ({
        ...{ feature_key: 'api_calls', quantity: 1, idempotency_key: null, metadata },
      }));
      const stretch = await longestStretch(async () => {
        const drafts = await inSlices(sent, (one) => draftOf(one, origin));
        await meter.add(drafts.flatMap((draft) => (draft.verdict === 'taken' ? [draft.event] : [])));
      });
      worst.push(stretch);
    }
    yield atMost(median(worst), 50, { path, unit: 'ms' });
    await meter.close();
  });
}

/** The most milliseconds of the processor that this thread spends on work without a pause. Those of other processes do not count. */
async function longestStretch(work: () => Promise<void>): Promise<number> {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [longest, last, isOver] = [0, spent(), false];
  const look = () => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return longest;
}
