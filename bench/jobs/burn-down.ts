/** Jobs that do nothing, from a full queue to an empty one, against the other queues. */
import type { Database } from '../../src/db/index.ts';
import { atLeast, forOrientation, round, type Row } from '../row.ts';
import { scale, sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { bullmq, bullmqOnRedis } from './peers/bullmq.ts';
import { graphileWorker } from './peers/graphile-worker.ts';
import { own } from './peers/own.ts';
import { fill, type Peer } from './peers/peer.ts';
import { pgBoss } from './peers/pg-boss.ts';
import { analyze, onServer } from './place.ts';

export function burnDown(): AsyncIterable<Row> {
  const count = sized(20_000, 2_000);
  return onServer(`burn-down of ${round(count)} jobs`, '≥ 1.2 ×', async function* ({ db, url }) {
    yield await compared(db, await graphileWorker(url), count, { least: 1.2, rounds: 5 });
    yield await compared(db, await pgBoss(url), count, { least: 5, rounds: 2 });
    yield await compared(db, await bullmq(url), count, { least: 5, rounds: 1 });
    const redis = await bullmqOnRedis();
    if (redis !== undefined) yield await compared(db, redis, count, { rounds: 2 });
    // At a smaller scale this row would equal the first one.
    if (scale === 1) yield await compared(db, await graphileWorker(url), 200_000, { least: 1.2, rounds: 1 });
  });
}

/** Jobs whose end is on disk before their slot takes the next job. */
export function settleEach(): AsyncIterable<Row> {
  const path = 'burn-down, each end recorded before the next start';
  return onServer(path, '≥ 2 ×', async function* ({ db, url }) {
    const peer = await graphileWorker(url, { isBatched: false });
    yield await compared(db, peer, sized(4_000, 500), { least: 2, rounds: 3, settle: 'each', path });
  });
}

interface Comparison {
  /** The ratio to reach; without it, the row is for orientation only. */
  readonly least?: number;
  readonly rounds: number;
  readonly settle?: 'each' | 'batched';
  readonly path?: string;
}

async function compared(
  db: Database,
  peer: Peer,
  count: number,
  { least, rounds, settle = 'batched', path }: Comparison,
): Promise<Row> {
  const engine = own(db, { settle });
  const burn = async (one: Peer) => {
    await fill(one, count);
    await analyze(db);
    return perSecond(one, count);
  };
  try {
    const { ratio, a, b } = await paired(
      () => burn(engine),
      () => burn(peer),
      rounds,
    );
    const row = {
      path: path ?? `burn-down of ${round(count)} jobs`,
      baseline: peer.name,
      measured: `${round(a)}/s against ${round(b)}/s`,
    };
    return least === undefined ? forOrientation(ratio, row) : atLeast(ratio, least, row);
  } finally {
    await Promise.all([engine.close(), peer.close()]);
  }
}

/** Returns the jobs per second, from the start of the worker until the end of the last job is recorded. */
async function perSecond(peer: Peer, count: number): Promise<number> {
  let left = count;
  let finish = () => {};
  const all = new Promise<void>((resolve) => (finish = resolve));
  const began = performance.now();
  const stop = await peer.start(() => {
    left -= 1;
    if (left === 0) finish();
  });
  await all;
  await stop();
  return (count * 1_000) / (performance.now() - began);
}
