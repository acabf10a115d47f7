/** The time from enqueuing a job to its start, when jobs come at a steady rate. */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, atMostTimes, forOrientation, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { quantile } from '../statistics.ts';
import { bullmq, bullmqOnRedis } from './peers/bullmq.ts';
import { graphileWorker } from './peers/graphile-worker.ts';
import { own } from './peers/own.ts';
import type { Peer } from './peers/peer.ts';
import { pgBoss } from './peers/pg-boss.ts';
import { onServer } from './place.ts';

const perSecond = 500;
const path = `enqueue to start at ${perSecond}/s`;

export function latency(): AsyncIterable<Row> {
  return onServer(path, '≤ 3 ms', async function* ({ db, url }) {
    const jobs = sized(2_000, 100);
    const ours = await delays(own(db), jobs);
    yield atMost(quantile(ours, 0.5), 3, { path: `${path}, p50`, unit: 'ms' });
    yield atMost(quantile(ours, 0.99), 15, { path: `${path}, p99`, unit: 'ms' });
    for (const open of [graphileWorker, pgBoss, bullmq, bullmqOnRedis]) {
      const peer = await open(url);
      if (peer === undefined) continue;
      const theirs = await delays(peer, jobs);
      for (const share of [0.5, 0.99]) {
        const [a, b] = [quantile(ours, share), quantile(theirs, share)];
        const row = {
          path: `${path}, p${share * 100}`,
          baseline: peer.name,
          measured: `${round(a)} ms against ${round(b)} ms`,
        };
        // Redis answers before anything is on disk.
        yield open === bullmqOnRedis ? forOrientation(a / b, row) : atMostTimes(a / b, 1, row);
      }
    }
  });
}

/** Milliseconds from each call to the start of its job. The first tenth is a warm-up and does not count. */
async function delays(peer: Peer, jobs: number): Promise<number[]> {
  const warm = Math.ceil(jobs / 10);
  const enqueuedAt: number[] = [];
  const times: number[] = [];
  let left = jobs + warm;
  let finish = () => {};
  const all = new Promise<void>((resolve) => (finish = resolve));
  const stop = await peer.start(({ nth }) => {
    if (nth >= warm) times.push(performance.now() - enqueuedAt[nth]!);
    left -= 1;
    if (left === 0) finish();
  });
  const began = performance.now();
  const added: Promise<unknown>[] = [];
  for (let nth = 0; nth < jobs + warm; nth++) {
    const wait = began + (nth * 1_000) / perSecond - performance.now();
    if (wait > 0) await delay(wait);
    enqueuedAt.push(performance.now());
    added.push(Promise.resolve(peer.add({ nth })));
  }
  await Promise.all([...added, all]);
  await stop();
  await peer.close();
  return times;
}
