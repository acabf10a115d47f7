/** Replicas against the real server, over HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runSweep } from '../../../src/db/sweeps.ts';
import { readSettings } from '../../../src/lib/settings.ts';
import { forgettingSweep } from '../../../src/services/sync/forgetting/sweeps.ts';
import { settings } from '../../../src/services/sync/settings.ts';
import { createWriter } from '../../../src/services/sync/writes.ts';
import { testServer, type TestServer } from '../../../src/testing/server.ts';
import { createPlinth, memoryStorage, type DroppedEdit, type ReplicaOptions } from '../../src/index.ts';
import { toText } from '../../src/sync/hlc.ts';
import { fileStorage } from '../../src/sync/replica/file.ts';
import { eventually, shown, until } from './replicas.ts';

let server: TestServer;
let tenants = 0;
beforeAll(async () => {
  server = await testServer({ services: ['sync'], env: { PLINTH_SYNC_PRESENCE: 'on' } });
}, 240_000);
afterAll(() => server.close());

/** Replicas of one tenant, whose connection can be cut. */
function device(tenant: string) {
  let isAway = false;
  let end = new AbortController();
  const fetch = (request: Request) => {
    if (isAway) return Promise.reject(new TypeError('fetch failed'));
    return globalThis.fetch(new Request(request, { signal: AbortSignal.any([request.signal, end.signal]) }));
  };
  const plinth = createPlinth({ baseUrl: server.url, token: server.rootToken, tenant, fetch });
  return {
    async open(options: Partial<ReplicaOptions> = {}) {
      const dropped: DroppedEdit[] = [];
      const replica = await plinth.sync.replica({
        ...{ tables: ['notes'], storage: memoryStorage(), onDropped: (edit) => void dropped.push(edit) },
        ...options,
      });
      onTestFinished(() => replica.stop());
      return Object.assign(replica, { dropped });
    },
    leave() {
      isAway = true;
      end.abort();
    },
    back() {
      isAway = false;
      end = new AbortController();
    },
  };
}
const newTenant = () => `replicas-${tenants++}`;

describe('replicas of the real server', () => {
  it('are equal after they were apart, and so is the record that the server shows', async () => {
    const tenant = newTenant();
    const [first, second] = [device(tenant), device(tenant)];
    const [one, other] = [await first.open(), await second.open()];
    await one.table('notes').set('n', { title: 'start', body: { text: 'start' } });
    await one.table('notes').add('n', 'tags', 'a', 'b');
    await one.table('notes').set('m', { title: 'to be deleted' });
    one.start();
    other.start();
    await eventually(() => shown(other)).toEqual({
      'notes\nm': { title: 'to be deleted' },
      'notes\nn': { body: { text: 'start' }, tags: ['a', 'b'], title: 'start' },
    });
    await Promise.all([one, other].map((replica) => until(replica, ({ state }) => state === 'live')));

    second.leave();
    await until(other, ({ state }) => state === 'offline');
    await other.table('notes').set('n', { title: 'other' });
    await other.table('notes').increment('n', 'views', 3);
    await other.table('notes').add('n', 'tags', 'a', { c: 1 });
    await other.table('notes').set('m', { done: true });
    await one.table('notes').increment('n', 'views', -1);
    await one.table('notes').remove('n', 'tags', 'a');
    await one.table('notes').delete('m');
    await one.flush();
    second.back();
    await other.flush();
    const expected = {
      'notes\nn': { body: { text: 'start' }, tags: ['a', 'b', { c: 1 }], title: 'other', views: 2 },
    };
    await eventually(() => shown(other)).toEqual(expected);
    await eventually(() => shown(one)).toEqual(expected);
    const plinth = createPlinth({ baseUrl: server.url, token: server.rootToken, tenant });
    const { fields } = await plinth.sync.records.get({ table: 'notes', pk: 'n' });
    expect(Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))).toEqual(
      expected['notes\nn'],
    );
  });

  it('keep their edits in a file from one program to the next', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-replica-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const here = device(newTenant());
    const storage = fileStorage(join(folder, 'journal'));
    const before = await here.open({ storage });
    for (let at = 0; at < 50; at += 1) await before.table('notes').increment('n', 'views');
    await before.stop();
    const after = await here.open({ storage });
    await after.flush();
    expect(after.nodeId).toBe(before.nodeId);
    const fresh = await here.open();
    fresh.start();
    await eventually(() => fresh.table('notes').get('n')).toEqual({ views: 50 });
  });

  it('begin again when they were away until deletions were forgotten', async () => {
    const tenant = newTenant();
    const [first, second] = [device(tenant), device(tenant)];
    const [one, other] = [await first.open(), await second.open()];
    await one.table('notes').set('deleted', { title: 'x' });
    await one.table('notes').set('kept', { title: 'y' });
    await one.flush();
    other.start();
    await until(other, ({ state }) => state === 'live');
    second.leave();
    await until(other, ({ state }) => state === 'offline');
    await other.table('notes').set('deleted', { more: 1 });
    await other.table('notes').set('new', { title: 'mine' });
    await other.table('notes').increment('new', 'views', 2);
    await one.table('notes').delete('deleted');
    await one.flush();
    const { db } = server;
    // On a busy machine the clocks of the two may differ, but the deletion has to be the later one.
    const later = toText({ timestamp: Date.now() + 2_000, counter: 0, node_id: one.nodeId });
    await db.sql`update sync.cells set hlc = ${later} where tenant_id = ${tenant} and kind = 't'`;
    await db.sql`update sync.tombstones set hlc = ${later} where tenant_id = ${tenant}`;
    await db.sql`update sync.cells set arrival = arrival - (${8 * 86_400_000}::bigint << 16) where tenant_id = ${tenant}`;
    await runSweep(
      forgettingSweep({ db, write: createWriter({ db }), settings: readSettings(settings, {}) }),
    );
    second.back();
    await other.flush();
    const expected = { 'notes\nkept': { title: 'y' }, 'notes\nnew': { title: 'mine', views: 2 } };
    await eventually(() => shown(other)).toEqual(expected);
    await eventually(() => shown(one)).toEqual(expected);
    expect(other.dropped.map(({ reason, change }) => [reason, change.pk, change.field])).toEqual([
      ['deleted', 'deleted', 'more'],
    ]);
  });

  it('show who else is there', async () => {
    const tenant = newTenant();
    const [one, other] = [await device(tenant).open(), await device(tenant).open()];
    one.start();
    await one.presence('notes:n').set({ cursor: 42 });
    const there = other.presence('notes:n');
    other.start();
    await eventually(() => there.others).toMatchObject([{ NodeID: one.nodeId, Data: { cursor: 42 } }]);
    await one.presence('notes:n').set({ cursor: 43 });
    await eventually(() => there.others).toMatchObject([{ NodeID: one.nodeId, Data: { cursor: 43 } }]);
    await one.stop();
    await eventually(() => there.others).toEqual([]);
  });
});
