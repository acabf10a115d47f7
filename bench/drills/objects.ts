/** `kill -9` of servers that store objects, again and again under load, while clients cut their own requests off, too. */
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/db/index.ts';
import { readSettings } from '../../src/lib/settings.ts';
import { sweepShard } from '../../src/services/storage/bytes/collector.ts';
import { shards } from '../../src/services/storage/bytes/driver.ts';
import { fsDriver } from '../../src/services/storage/bytes/fs-driver.ts';
import { settings } from '../../src/services/storage/settings.ts';
import { onServer } from '../jobs/place.ts';
import { token } from '../place.ts';
import { atMost, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { bucket, type ObjectLoad, startObjectLoad } from './object-load.ts';
import { type DrillServer, drillServer } from './server.ts';

const kills = () => sized(500, 6);

/** How many servers share the database and the directory. */
const servers = 2;

/** Servers on PostgreSQL, with all syncs. */
export const objectKills = (): AsyncIterable<Row> =>
  onServer('kill -9 while objects are stored', 'nothing lost', ({ db, url }) => drill(db, url));

async function* drill(db: Database, url: string): AsyncGenerator<Row> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-drill-'));
  const running: DrillServer[] = [];
  try {
    for (let nth = 0; nth < servers; nth++) running.push(await begun(dataDir, url));
    await makeBucket(running[0]!.port);
    const loads = await Promise.all(running.map((server, nth) => killAgainAndAgain(server, `load-${nth}`)));
    const faults = (await Promise.all(loads.map((load) => load.verify()))).flat();
    await Promise.all(running.map((server) => server.kill()));
    const dir = join(dataDir, 'storage');
    const left = await leftAfterSweep(db, dir);
    const lost = await withoutBytes(db, dir);
    yield* verdict(loads, { faults, left, lost });
  } finally {
    await Promise.all(running.map((server) => server.kill()));
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Only an orderly end writes the compiled modules, with which each of the many starts takes a third of the time. */
async function begun(dataDir: string, url: string): Promise<DrillServer> {
  const env = { PLINTH_DATA_DIR: dataDir, DATABASE_URL: url, NODE_COMPILE_CACHE: join(dataDir, 'compiled') };
  const server = await drillServer(env, ['storage']);
  await server.ready();
  await server.end();
  server.start();
  await server.ready();
  return server;
}

async function killAgainAndAgain(server: DrillServer, name: string): Promise<ObjectLoad> {
  const load = startObjectLoad(server.port, name);
  const times = kills() / servers;
  for (let nth = 1; nth <= times; nth++) {
    await killAndStart(server, load);
    if (nth % 25 === 0) console.log(`  ${name}: ${nth} of ${times} kills`);
  }
  await delay(500);
  await load.stop();
  return load;
}

async function makeBucket(port: number): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${port}/store/v1/buckets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: bucket }),
  });
  if (status !== 201) throw new Error(`the bucket was not created: ${status}`);
}

/** Kills the server at a random moment after it has acknowledged some requests, however fast the machine is. */
async function killAndStart(server: DrillServer, { acknowledged }: ObjectLoad): Promise<void> {
  const done = () => Object.values(acknowledged).reduce((sum, count) => sum + count, 0);
  const enough = done() + 5 + Math.random() * 30;
  while (done() < enough) await delay(5);
  await delay(Math.random() * 100);
  await server.kill();
  server.start();
  await server.ready();
}

/** The files that no blob owns after a sweep, when all of them are old enough. */
async function leftAfterSweep(db: Database, dir: string): Promise<string[]> {
  const longAgo = new Date(Date.now() - 48 * 3_600_000);
  for (const file of await filesIn(dir)) await utimes(join(dir, 'blobs', file), longAgo, longAgo);
  const deps = { db, driver: fsDriver({ dir, fsync: false }), settings: readSettings(settings, {}) };
  for (let shard = 0; shard < shards; shard++) await sweepShard(deps, shard);
  const owned = new Set(await blobIds(db));
  return (await filesIn(dir)).filter((file) => !owned.has(file.slice(file.indexOf('/') + 1)));
}

/** The blobs whose bytes should be in files, but are not. */
async function withoutBytes(db: Database, dir: string): Promise<string[]> {
  const files = new Set((await filesIn(dir)).map((file) => file.slice(file.indexOf('/') + 1)));
  return (await blobIds(db)).filter((id) => !files.has(id));
}

async function blobIds({ sql }: Database): Promise<string[]> {
  const rows = await sql<
    { id: string }[]
  >`select id from storage.blobs where content is null and state <> 'deleting'`;
  return rows.map(({ id }) => id);
}

const filesIn = async (dir: string) =>
  (await readdir(join(dir, 'blobs'), { recursive: true })).filter((name) => name.includes('blb_'));

interface Found {
  readonly faults: readonly string[];
  readonly left: readonly string[];
  readonly lost: readonly string[];
}

function* verdict(loads: readonly ObjectLoad[], { faults, left, lost }: Found): Generator<Row> {
  const path = `${kills()} × kill -9 of ${servers} servers while objects are stored`;
  const kinds = Object.keys(loads[0]!.acknowledged);
  const sum = (of: (load: ObjectLoad) => number) => loads.reduce((all, load) => all + of(load), 0);
  const done = kinds.map((kind) => `${sum(({ acknowledged }) => acknowledged[kind] ?? 0)} × ${kind}`);
  done.push(`${sum(({ cut }) => cut())} cut off by their clients`);
  const figure = (what: string, found: readonly string[], unit: string, otherwise = 'none') =>
    atMost(found.length, 0, { path: `${path}: ${what}`, unit, measured: found[0] ?? otherwise });
  const wrong = loads.flatMap((load) => load.wrong);
  yield figure('acknowledged objects that are not as they were stored', faults, 'objects', done.join(', '));
  yield figure('wrong answers', wrong, 'answers');
  yield figure('files without an owner after the sweep', left, 'files');
  yield figure('blobs without their bytes', lost, 'blobs');
}
