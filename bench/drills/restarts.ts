/** The database restarts every five seconds for a minute. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startProcess } from '../../src/testing/worker-processes.ts';
import { token } from '../place.ts';
import { atMost, atMostTimes, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { quantile } from '../statistics.ts';
import { createCluster, type Cluster } from './cluster.ts';
import { type Load, startLoad } from './load.ts';
import { drillReceiver } from './receiver.ts';
import { type DrillServer, drillServer } from './server.ts';
import { lostOf, subscribe } from './verdict.ts';

const tenants = ['one', 'two', 'three', 'four'];
const path = 'the database restarts every 5 s for a minute';
const program = new URL('./worker.ts', import.meta.url);
/** Milliseconds of the load before and after the restarts, whose answers are compared. */
const quietMs = () => sized(10_000, 2_000);

export async function* restarts(): AsyncGenerator<Row> {
  const cluster = await createCluster();
  if (cluster === undefined) {
    yield notMeasured(path, 'nothing lost', 'initdb and pg_ctl are not on this machine');
    return;
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-drill-'));
  const servers: DrillServer[] = [];
  try {
    for (let nth = 0; nth < 2; nth++) {
      const server = await drillServer({ PLINTH_DATA_DIR: dataDir, DATABASE_URL: cluster.url });
      servers.push(server);
      await server.ready();
    }
    yield* drill(cluster, servers);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
    await cluster.remove();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function* drill(cluster: Cluster, servers: readonly DrillServer[]): AsyncGenerator<Row> {
  const ports = servers.map(({ port }) => port);
  const receiver = await drillReceiver();
  const worker = await startProcess(program, { port: ports[0]!, token });
  let hasWorkerEnded = false;
  void worker.ended.then(() => (hasWorkerEnded = true));
  try {
    await subscribe(ports[0]!, tenants, receiver);
    await worker.call('work');
    const load = startLoad(ports, tenants);
    await delay(1_000);
    const before = await during(load, quietMs());
    for (let left = sized(12, 2); left > 0; left--) {
      await delay(5_000);
      await cluster.restart();
    }
    await Promise.all(servers.map((server) => server.ready()));
    await delay(5_000);
    const after = await during(load, quietMs());
    await load.stop();
    const exited = servers.filter((server) => server.hasExited()).length + Number(hasWorkerEnded);
    yield atMost(exited, 0, { path: `${path}: processes that exited`, unit: 'processes' });
    const lost = await lostOf(ports[0]!, { load, taken: receiver.taken }, 60_000);
    const promised = `${round(load.jobs.size)} jobs and ${round(load.events.size)} events acknowledged`;
    yield atMost(lost, 0, { path: `${path}: lost`, unit: 'records', measured: promised });
    const measured = load.refusals[0] ?? 'none';
    yield atMost(load.refusals.length, 0, {
      path: `${path}: answers that are wrong`,
      unit: 'answers',
      measured,
    });
    yield atMostTimes(after / before, 2, {
      path: `${path}: p99 of acceptance, five seconds after the last one`,
      baseline: 'before the first one',
      measured: `${round(after)} ms against ${round(before)} ms`,
    });
  } finally {
    await worker.kill();
    await receiver.close();
  }
}

/** Returns the p99 of the answers within the next milliseconds. */
async function during(load: Load, ms: number): Promise<number> {
  const from = performance.now();
  await delay(ms);
  return quantile(
    load.answers.filter(({ at }) => at >= from).map((answer) => answer.ms),
    0.99,
  );
}
