/** Jobs that a worker outside the platform takes over HTTP, a hundred at a time, against a worker in this process. */
import type { Lease } from '../../generated/jobs/types.ts';
import { call } from '../client.ts';
import { withServers } from '../process.ts';
import { atLeast, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { own } from './peers/own.ts';
import { fill } from './peers/peer.ts';
import { analyze, onServer } from './place.ts';

const path = 'leases of 100 over HTTP, one client';

export function leases(): AsyncIterable<Row> {
  return onServer(path, '≥ 0.4 ×', ({ db, place }) =>
    withServers([place.serve({ PLINTH_JOBS_ENGINE: 'off' })], async function* ({ port }) {
      const count = sized(10_000, 1_000);
      const engine = own(db);
      const filled = async (work: () => Promise<void>) => {
        await fill(engine, count);
        await analyze(db);
        const began = performance.now();
        await work();
        return (count * 1_000) / (performance.now() - began);
      };
      const { ratio, a, b } = await paired(
        () => filled(() => overHttp(port, count)),
        () =>
          filled(async () => {
            let left = count;
            let finish = () => {};
            const all = new Promise<void>((resolve) => (finish = resolve));
            const stop = await engine.start(() => void (--left === 0 && finish()));
            await all;
            await stop();
          }),
        2,
      );
      await engine.close();
      yield atLeast(ratio, 0.4, {
        path,
        baseline: 'in process',
        measured: `${round(a)}/s against ${round(b)}/s`,
      });
    }),
  );
}

/** A client that takes the next lease while it settles the last one. */
async function overHttp(port: number, count: number): Promise<void> {
  let settling: Promise<unknown> = Promise.resolve();
  for (let done = 0; done < count;) {
    const { id, jobs } = await call<Lease>(port, 'POST', '/jobs/v1/leases', {
      queues: ['bench'],
      max_jobs: 100,
    });
    if (jobs.length === 0) throw new Error(`${count - done} jobs could not be leased`);
    done += jobs.length;
    await settling;
    settling = call(port, 'POST', `/jobs/v1/leases/${id}/settle`, {
      completed: jobs.map((job) => ({ id: job.id, output: null })),
      failed: [],
    });
  }
  await settling;
}
