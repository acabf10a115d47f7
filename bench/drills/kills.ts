/** `kill -9` of servers and workers, twenty times in a row under load. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startProcess, type WorkerProcess } from '../../src/testing/worker-processes.ts';
import { onServer } from '../jobs/place.ts';
import { token } from '../place.ts';
import { atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { startLoad } from './load.ts';
import { drillReceiver, type DrillReceiver } from './receiver.ts';
import { type DrillServer, drillServer } from './server.ts';
import { heldType, lostOf, made, subscribe } from './verdict.ts';

const rounds = () => sized(20, 3);
const tenants = ['one', 'two', 'three', 'four'];
const program = new URL('./worker.ts', import.meta.url);

/** Two servers and two workers on PostgreSQL; each round kills one of them and starts it again. */
export const kills = (): AsyncIterable<Row> =>
  onServer('kill -9 under load, PostgreSQL', 'nothing lost', ({ url }) =>
    drill('PostgreSQL', [{ DATABASE_URL: url }, { DATABASE_URL: url }]),
  );

/** One server on the embedded database. */
export async function* embeddedKills(): AsyncGenerator<Row> {
  yield* drill('embedded database', [{}]);
}

async function* drill(name: string, places: readonly Record<string, string>[]): AsyncGenerator<Row> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-drill-'));
  const servers: DrillServer[] = [];
  const workers: TimedWorker[] = [];
  const receiver = await drillReceiver();
  try {
    for (const env of places) {
      const server = await drillServer({ PLINTH_DATA_DIR: dataDir, ...env });
      servers.push(server);
      await server.ready();
    }
    const ports = servers.map(({ port }) => port);
    const begun = new Begun();
    await subscribe(ports[0]!, tenants, receiver);
    for (const at of [0, 1]) workers.push(await timedWorker(ports[at % ports.length]!, begun));
    const load = startLoad(ports, tenants);
    for (let nth = 0; nth < rounds(); nth++) await killOne({ nth, servers, workers, ports, receiver, begun });
    await load.stop();
    const lost = await lostOf(ports[0]!, { load, taken: receiver.taken }, 60_000);
    const promised = `${round(load.jobs.size)} jobs and ${round(load.events.size)} events acknowledged`;
    const path = `${rounds()} × kill -9 under load, ${name}`;
    yield atMost(lost, 0, { path: `${path}: lost`, unit: 'records', measured: promised });
    const wrong = load.refusals[0] ?? 'none';
    yield atMost(load.refusals.length, 0, {
      path: `${path}: answers that are wrong`,
      unit: 'answers',
      measured: wrong,
    });
    yield takenOver(`${path}: deliveries of the dead are attempted again`, receiver.resumed);
    yield takenOver(`${path}: jobs of dead workers run again`, begun.delays);
  } finally {
    await Promise.all([...workers.map(({ process }) => process.kill()), ...servers.map((one) => one.kill())]);
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Round {
  readonly nth: number;
  readonly servers: readonly DrillServer[];
  readonly workers: TimedWorker[];
  readonly ports: readonly number[];
  readonly receiver: DrillReceiver;
  readonly begun: Begun;
}

/** Kills a server or a worker at a random moment of the load, and starts it again. */
async function killOne({ nth, servers, workers, ports, receiver, begun }: Round): Promise<void> {
  const at = nth % (servers.length + workers.length);
  const server = servers[at];
  await Promise.all(tenants.map((tenant) => held(ports, tenant)));
  await delay(300 + Math.random() * 1_200);
  if (server === undefined) {
    const place = at - servers.length;
    const { process, holds } = workers[place]!;
    const killedAt = performance.now();
    await process.kill();
    // Output from before the kill may arrive after the process has ended.
    await delay(50);
    begun.lost(holds, killedAt);
    workers[place] = await timedWorker(ports[place % ports.length]!, begun);
  } else {
    await server.kill();
    server.start();
    await server.ready();
    // While the only server is away nobody can go on: what it held counts from the moment when it is there again.
    if (servers.length === 1) receiver.restarted();
  }
  // Other processes take over everything that the killed one held before the next one is killed, so each kill is measured
  // separately.
  for (const until = performance.now() + 15_000; receiver.lost.size > 0 || begun.isWaiting();) {
    if (performance.now() > until) throw new Error('what a dead process held did not run again in 15 s');
    await delay(20);
  }
  receiver.release();
}

/** Sends an event whose first request hangs, to a server that answers. */
async function held(ports: readonly number[], tenant: string): Promise<void> {
  await made(ports[0]!, '/webhooks/events', { type: heldType, data: {} }, tenant);
}

interface TimedWorker {
  readonly process: WorkerProcess;
  /** The jobs that the worker began and has not ended. */
  readonly holds: Set<string>;
}

async function timedWorker(port: number, begun: Begun): Promise<TimedWorker> {
  const process = await startProcess(program, { port, token });
  const holds = new Set<string>();
  process.onMessage((message: { begun?: string; ended?: string }) => {
    if (message.begun !== undefined) begun.at(message.begun, holds);
    if (message.ended !== undefined) holds.delete(message.ended);
  });
  await process.call('work');
  return { process, holds };
}

/** Returns when lost jobs begin again. */
class Begun {
  readonly delays: number[] = [];
  readonly #lost = new Map<string, number>();

  at(id: string, holds: Set<string>): void {
    holds.add(id);
    const lostAt = this.#lost.get(id);
    if (lostAt !== undefined && this.#lost.delete(id)) this.delays.push(performance.now() - lostAt);
  }

  lost(ids: ReadonlySet<string>, at: number): void {
    for (const id of ids) this.#lost.set(id, at);
  }

  isWaiting(): boolean {
    return this.#lost.size > 0;
  }
}

const takenOver = (path: string, delays: readonly number[]): Row =>
  atMost(delays.length === 0 ? Infinity : Math.max(...delays), 7_000, {
    path,
    unit: 'ms',
    measured: `the longest of ${delays.length}`,
  });
