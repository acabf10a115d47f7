import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createPool } from '../../../db/sql.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { settings as table } from '../settings.ts';
import { filesOf, pathOf, tools } from '../testing.ts';
import { collector, sweepShard } from './collector.ts';
import { shards } from './driver.ts';
import { fsDriver } from './fs-driver.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
  await api.bucket('photos');
});
afterAll(() => server.close());

const large = (letter: string) => Buffer.alloc(100_000, letter);
const dir = () => join(server.db.options.dataDir, 'storage');
const deps = () => ({
  db: server.db,
  driver: fsDriver({ dir: dir(), fsync: true }),
  settings: readSettings(table, {}),
});

/** Makes all garbage older than the grace, and collects it. */
async function collect(): Promise<void> {
  await server.db.sql`update storage.garbage set since = now() - interval '2 hours'`;
  await runSweep(collector(deps()));
}
const fileOf = async (letter: string): Promise<string | undefined> => {
  for (const name of await filesOf(server))
    if ((await readFile(join(dir(), 'blobs', name))).equals(large(letter))) return name;
  return undefined;
};

describe('the collector', () => {
  it('deletes bytes to which nothing points, once the grace is over', async () => {
    await api.put('photos', 'a', large('a'));
    await api.put('photos', 'small', 'inline');
    await api.send('DELETE', pathOf('photos', 'a'));
    await api.send('DELETE', pathOf('photos', 'small'));
    await runSweep(collector(deps()));
    expect(await fileOf('a')).toBeDefined();
    await collect();
    expect(await fileOf('a')).toBeUndefined();
    const { body } = await api.send('GET', '/admin/stats');
    expect(body).toMatchObject({ stored_bytes: 0, garbage_blobs: 0, garbage_bytes: 0 });
  });

  it('leaves bytes to which something else points', async () => {
    await api.put('photos', 'b', large('b'));
    await api.send('POST', '/buckets/photos/copy', { body: { source_key: 'b', key: 'b2' } });
    await api.send('DELETE', pathOf('photos', 'b'));
    await collect();
    expect(await api.bytes('photos', 'b2')).toEqual(large('b'));
    await api.send('DELETE', pathOf('photos', 'b2'));
    await collect();
    expect(await fileOf('b')).toBeUndefined();
  });

  it('leaves bytes that got a new pointer during the grace', async () => {
    await api.put('photos', 'c', large('c'));
    await api.send('DELETE', pathOf('photos', 'c'));
    await api.put('photos', 'again', large('c'));
    await collect();
    expect(await api.bytes('photos', 'again')).toEqual(large('c'));
  });

  it('never takes bytes from writers of the same content', async () => {
    for (let round = 0; round < 5; round++) {
      await api.put('photos', 'race', large('r'));
      await api.send('DELETE', pathOf('photos', 'race'));
      await Promise.all([
        collect(),
        api.put('photos', 'race', large('r')),
        api.put('photos', 'race2', large('r')),
      ]);
      for (const key of ['race', 'race2']) expect(await api.bytes('photos', key)).toEqual(large('r'));
    }
  });
});

// On the embedded database a transaction has no other beside it.
describe.runIf(inject('engine') === 'postgres')('the collector beside a deletion', () => {
  it('neither waits for it nor forgets what it leaves behind', async () => {
    await api.put('photos', 'last', large('l'));
    await api.send('DELETE', pathOf('photos', 'last'));
    await api.put('photos', 'last', large('l'));
    await server.db.sql`update storage.garbage set since = now() - interval '2 hours'`;
    const pool = createPool({ max: 1, fetch_types: false }, server.db.url);
    await pool.begin(async (sql) => {
      await sql`
        with gone as (delete from storage.objects where key = 'last' returning tenant_id, blob_id)
        select storage.discard(tenant_id, array[blob_id]) from gone`;
      await runSweep(collector(deps()));
    });
    await pool.end();
    await collect();
    expect(await fileOf('l')).toBeUndefined();
  });
});

describe('the sweep of a directory', () => {
  it('deletes old files that no blob has, and nothing else', async () => {
    await api.put('photos', 'kept', large('k'));
    const kept = (await fileOf('k'))!;
    const make = async (name: string, ageMs: number) => {
      const file = join(dir(), 'blobs', name);
      await writeFile(file, 'x');
      const at = new Date(Date.now() - ageMs);
      await utimes(file, at, at);
      return name;
    };
    const inShard = () => `00/${newId('blb').slice(0, -2)}00`;
    const hour = 3_600_000;
    const orphan = await make(inShard(), 25 * hour);
    const young = await make(inShard(), 23 * hour);
    const foreign = await make('00/notes.txt', 100 * hour);
    const old = new Date(Date.now() - 100 * hour);
    await utimes(join(dir(), 'blobs', kept), old, old);
    for (let shard = 0; shard < shards; shard++) await sweepShard(deps(), shard);
    const left = await filesOf(server);
    expect(left).toEqual(expect.arrayContaining([young, foreign, kept]));
    expect(left).not.toContain(orphan);
  });
});
