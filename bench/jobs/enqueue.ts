/** Storing jobs: one after the other, many callers at once, and a thousand with one call. */
import { atLeast, forOrientation, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { bullmq, bullmqOnRedis } from './peers/bullmq.ts';
import { graphileWorker } from './peers/graphile-worker.ts';
import { own } from './peers/own.ts';
import { batch, fill, type Peer } from './peers/peer.ts';
import { pgBoss } from './peers/pg-boss.ts';
import { onServer } from './place.ts';

/** A way to store jobs, and its target. */
interface Way {
  readonly path: string;
  readonly least: number;
  /** Stores jobs, and returns how many. */
  readonly store: (peer: Peer) => Promise<number>;
}

const ways: readonly Way[] = [
  { path: 'enqueue one job', least: 2, store: (peer) => callers(peer, 1, sized(1_000, 50)) },
  { path: 'enqueue one job, 32 callers', least: 5, store: (peer) => callers(peer, 32, sized(6_000, 320)) },
  { path: 'enqueue 1,000 jobs at once', least: 2, store: (peer) => inBulk(peer, sized(20_000, 2_000)) },
];

export function enqueue(): AsyncIterable<Row> {
  return onServer('enqueue', '≥ 2 ×', async function* ({ db, url }) {
    const engine = own(db);
    const redis = await bullmqOnRedis();
    const peers = [await graphileWorker(url), await pgBoss(url), await bullmq(url)];
    try {
      for (const way of ways) {
        for (const peer of peers) yield await compared(engine, peer, way);
        // This library answers before anything is on disk.
        if (redis !== undefined) yield await compared(engine, redis, way, false);
      }
    } finally {
      await Promise.all(
        [engine, ...peers, ...(redis === undefined ? [] : [redis])].map((one) => one.close()),
      );
    }
  });
}

async function compared(engine: Peer, peer: Peer, { path, least, store }: Way, hasTarget = true) {
  const { ratio, a, b } = await paired(
    () => rate(() => store(engine)),
    () => rate(() => store(peer)),
    2,
  );
  const row = { path, baseline: peer.name, measured: `${round(a)}/s against ${round(b)}/s` };
  return hasTarget ? atLeast(ratio, least, row) : forOrientation(ratio, row);
}

async function rate(store: () => Promise<number>): Promise<number> {
  const began = performance.now();
  const count = await store();
  return (count * 1_000) / (performance.now() - began);
}

async function callers(peer: Peer, count: number, jobs: number): Promise<number> {
  let nth = 0;
  const caller = async () => {
    while (nth < jobs) await peer.add({ nth: nth++ });
  };
  await Promise.all(Array.from({ length: count }, caller));
  return jobs;
}

async function inBulk(peer: Peer, jobs: number): Promise<number> {
  const whole = Math.ceil(jobs / batch) * batch;
  await fill(peer, whole);
  return whole;
}
