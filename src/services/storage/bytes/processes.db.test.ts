/** Tests that processes with one database and one directory store and collect without taking anything from one another. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../../../db/index.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { settings as table } from '../settings.ts';
import { pathOf, tools } from '../testing.ts';
import { collector } from './collector.ts';
import { fsDriver } from './fs-driver.ts';

const contents = ['a', 'b', 'c', 'd'].map((letter) => Buffer.alloc(100_000, letter));
const rounds = 60;
/** A service that runs alone has its paths at the root. */
const services = ['keys', 'storage'];

/** The embedded database has one process. */
describe.runIf(inject('engine') === 'postgres')('two processes on one directory', () => {
  let place: ChildDatabase;
  let servers: ChildServer[] = [];
  beforeAll(async () => {
    place = await childDatabase(services);
    servers = await Promise.all([0, 1].map(() => childServer({ services, env: place.env })));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await place.remove();
  });

  const dir = () => join(place.env.PLINTH_DATA_DIR, 'storage');

  /** Collects again and again while some work lasts, as a process would whose grace is short. */
  async function collectUntil(isOver: () => boolean): Promise<void> {
    const log = pino({ level: 'silent' });
    const db = await openDatabase({ url: place.url, connections: 8, dataDir: '', log });
    const driver = fsDriver({ dir: dir(), fsync: false });
    const sweep = collector({ db, driver, settings: { ...readSettings(table, {}), gcGraceMs: 1_000 } });
    try {
      while (!isOver()) await runSweep(sweep);
    } finally {
      await db.close();
    }
  }

  /** Two processes collect while the work lasts. */
  async function whileCollecting(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    const done = work.finally(() => (isOver = true));
    await Promise.all([done, ...[0, 1].map(() => collectUntil(() => isOver))]);
  }

  const files = async () =>
    (await readdir(join(dir(), 'blobs'), { recursive: true })).filter((name) => name.includes('/'));

  /** Stores, reads, copies and deletes content that the other process stores, too. */
  async function churn(at: number): Promise<void> {
    const api = tools(servers[at]!);
    for (let round = 0; round < rounds; round++) {
      const key = `key-${at}-${round % 5}`;
      const content = contents[(round * (at + 1)) % contents.length]!;
      await api.put('shared', key, content);
      expect((await api.bytes('shared', key)).equals(content)).toBe(true);
      await api.send('POST', '/buckets/shared/copy', { body: { source_key: key, key: `${key}-copy` } });
      await api.send('DELETE', pathOf('shared', key));
      expect((await api.bytes('shared', `${key}-copy`)).equals(content)).toBe(true);
    }
  }

  it('keep everything that something points to, and nothing else', { timeout: 60_000 }, async () => {
    const api = tools(servers[0]!);
    await api.bucket('shared');
    await whileCollecting(Promise.all([churn(0), churn(1)]));
    expect((await files()).length).toBeGreaterThan(0);
    const { objects } = (await api.send('GET', '/buckets/shared/objects')).body as {
      objects: { key: string }[];
    };
    expect(objects).toHaveLength(10);
    await Promise.all(objects.map(({ key }) => api.send('DELETE', pathOf('shared', key))));
    await whileCollecting(until(async () => (await files()).length === 0));
  });
});
