/** How long a tenant's single job waits while another tenant has a long queue. */
import { setTimeout as delay } from 'node:timers/promises';
import { createEngine } from '../../src/db/engine/index.ts';
import type { Database } from '../../src/db/index.ts';
import { log } from '../place.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median } from '../statistics.ts';
import { slots } from './peers/peer.ts';
import { analyze, onServer } from './place.ts';

const queue = 'bench';
const jobMs = 10;
const path = 'enqueue to start, while another tenant has many jobs';

export function neighbour(): AsyncIterable<Row> {
  return onServer(path, '≤ 2 ×', async function* ({ db }) {
    const jobs = sized(200_000, 5_000);
    const alone = await startDelay(db);
    const tasks = Array.from({ length: 1_000 }, () => ({ name: 'long', queue, tenant: 'busy' }));
    const filler = createEngine({ db, log });
    for (let made = 0; made < jobs; made += tasks.length) await filler.enqueue(tasks);
    await filler.stop();
    await analyze(db);
    const besides = await startDelay(db);
    yield atMostTimes(besides / alone, 2, {
      path: `enqueue to start, while another tenant has ${round(jobs)} jobs of ${jobMs} ms`,
      baseline: 'nobody else',
      measured: `${round(besides)} ms against ${round(alone)} ms`,
    });
  });
}

/** Returns the median of the milliseconds between the enqueuing of single jobs and their start. */
async function startDelay(db: Database): Promise<number> {
  const engine = createEngine({ db, log });
  let begun = () => {};
  engine.handle(queue, 'long', () => delay(jobMs), { concurrency: slots });
  engine.handle(queue, 'single', () => begun());
  await engine.start();
  // The rate at which jobs end determines how many are claimed ahead.
  await delay(1_500);
  const times: number[] = [];
  for (let turn = 0; turn < sized(40, 5); turn++) {
    const start = new Promise<void>((resolve) => (begun = resolve));
    const enqueued = performance.now();
    await engine.enqueue({ name: 'single', queue, tenant: 'quiet' });
    await start;
    times.push(performance.now() - enqueued);
  }
  await engine.stop(1_000);
  return median(times);
}
