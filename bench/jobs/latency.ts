/** The time from enqueuing a job to its start, against graphile-worker in the same database. */
import { createEngine } from '../../src/db/engine/index.ts';
import { log, withPlace } from '../place.ts';
import { atMostTimes, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { latencies, median } from '../statistics.ts';
import { peer, slots } from './peer.ts';

export function latency(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const path = 'enqueue to start';
    if (place.url === undefined) {
      yield notMeasured(path, '≤ 1 ×', 'graphile-worker needs a server');
      return;
    }
    const { url } = place;
    yield* await place.use(async (db) => {
      const calls = sized(500, 50);
      let started = () => {};
      const engine = createEngine({ db, log });
      engine.handle('bench', 'nothing', () => started(), { concurrency: slots });
      await engine.start();
      const other = await peer(url);
      const runner = await other.start(() => started());
      const startOf = (enqueue: () => Promise<unknown>) => async () => {
        const start = new Promise<void>((resolve) => (started = resolve));
        await enqueue();
        await start;
      };
      const own = await latencies(
        calls,
        startOf(() => engine.enqueue({ name: 'nothing', queue: 'bench' })),
      );
      const theirs = await latencies(
        calls,
        startOf(() => other.utils.addJob('nothing', {})),
      );
      await Promise.all([engine.stop(1_000), runner.stop()]);
      await other.utils.release();
      return [
        atMostTimes(median(own) / median(theirs), 1, {
          path,
          baseline: 'graphile-worker 0.18',
          measured: `${round(median(own))} ms against ${round(median(theirs))} ms`,
        }),
      ];
    });
  });
}
