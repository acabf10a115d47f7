/** Jobs that do nothing, from a full queue to an empty one, against graphile-worker with its batching. */
import { createEngine } from '../../src/db/engine/index.ts';
import type { Database } from '../../src/db/index.ts';
import { log, withPlace } from '../place.ts';
import { atLeast, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { analyze, peer, slots } from './peer.ts';

export function burnDown(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const count = sized(20_000, 2_000);
    const path = `burn-down of ${round(count)} jobs`;
    if (place.url === undefined) {
      yield notMeasured(path, '≥ 1.2 ×', 'graphile-worker needs a server');
      return;
    }
    const { url } = place;
    yield* await place.use(async (db) => {
      const other = await peer(url);
      const { ratio, a, b } = await paired(
        () => ours(db, count),
        async () => {
          await other.add(count);
          await analyze(db);
          return perSecond(count, async (done) => {
            const runner = await other.start(() => done());
            return { work: async () => {}, stop: () => runner.stop() };
          });
        },
      );
      await other.utils.release();
      return [
        atLeast(ratio, 1.2, {
          path,
          baseline: 'graphile-worker 0.18, batched',
          measured: `${round(a)}/s against ${round(b)}/s`,
        }),
      ];
    });
  });
}

async function ours(db: Database, count: number): Promise<number> {
  const engine = createEngine({ db, log });
  for (let left = count; left > 0; left -= 1_000)
    await engine.enqueue(
      Array.from({ length: Math.min(left, 1_000) }, () => ({ name: 'nothing', queue: 'bench' })),
    );
  await analyze(db);
  return perSecond(count, async (done) => {
    engine.handle('bench', 'nothing', () => done(), { concurrency: slots });
    return { work: () => engine.start(), stop: () => engine.stop(5_000) };
  });
}

interface Work {
  readonly work: () => Promise<void>;
  /** Resolves when the ends of all jobs are recorded. */
  readonly stop: () => Promise<unknown>;
}

/** The jobs done in a second, from the start of the worker until the end of the last one is recorded. */
async function perSecond(count: number, start: (done: () => void) => Promise<Work>): Promise<number> {
  let left = count;
  let finish = () => {};
  const all = new Promise<void>((resolve) => (finish = resolve));
  const done = () => {
    left -= 1;
    if (left === 0) finish();
  };
  const began = performance.now();
  const { work, stop } = await start(done);
  await work();
  await all;
  await stop();
  return (count * 1_000) / (performance.now() - began);
}
