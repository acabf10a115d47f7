/** A job that kills the process that executes it. */
import { setTimeout as delay } from 'node:timers/promises';
import { startProcess } from '../../src/testing/worker-processes.ts';
import { call } from '../client.ts';
import { onServer } from '../jobs/place.ts';
import { token } from '../place.ts';
import { atMost, type Row } from '../row.ts';
import { drillServer } from './server.ts';

const path = 'a job that kills its process';
const program = new URL('./worker.ts', import.meta.url);
const neighbours = 40;
const patienceMs = 180_000;

interface Seen {
  readonly id: string;
  readonly state: string;
  readonly last_error: string | null;
}

/** A supervisor starts the worker again whenever it has been killed, until the job has failed. */
export const losses = (): AsyncIterable<Row> =>
  onServer(path, 'fails after ten losses', async function* ({ url }) {
    const server = await drillServer({ DATABASE_URL: url });
    try {
      await server.ready();
      const { port } = server;
      const enqueue = (name: string) =>
        call<Seen>(port, 'POST', '/jobs/v1/jobs', { name, queue: 'drill', payload: { ms: 100 } });
      const killer = await enqueue('kills');
      const others = await Promise.all(Array.from({ length: neighbours }, () => enqueue('works')));
      const read = (id: string) => call<Seen>(port, 'GET', `/jobs/v1/jobs/${id}`);
      const deaths = await supervise(port, async () => (await read(killer.id)).state === 'failed');
      const { last_error } = await read(killer.id);
      yield atMost(deaths, 10, { path: `${path}: losses`, unit: 'losses', measured: String(last_error) });
      const ended = await Promise.all(others.map(({ id }) => read(id)));
      yield atMost(ended.filter(({ state }) => state !== 'completed').length, 0, {
        path: `${path}: neighbours that do not complete`,
        unit: 'jobs',
        measured: `${neighbours} neighbours`,
      });
    } finally {
      await server.kill();
    }
  });

/** Returns how often the worker died until `isOver`. */
async function supervise(port: number, isOver: () => Promise<boolean>): Promise<number> {
  const until = performance.now() + patienceMs;
  for (let deaths = 0; ; deaths++) {
    const worker = await startProcess(program, { port, token });
    let isDead = false;
    void worker.ended.then(() => (isDead = true));
    await worker.call('work').catch(() => {});
    while (!isDead && !(await isOver())) {
      if (performance.now() > until) throw new Error(`it has not failed after ${deaths} deaths`);
      await delay(100);
    }
    if (isDead) continue;
    // The jobs next to the killer that were running at its last death complete in this process.
    await delay(3_000);
    await worker.kill();
    return deaths;
  }
}
