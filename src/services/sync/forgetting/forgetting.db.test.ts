import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { settings } from '../settings.ts';
import { tagOf, testNode, tools } from '../testing.ts';
import { createWriter } from '../writes.ts';
import { forgettingSweep } from './sweeps.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
beforeAll(async () => {
  server = await testServer({ services: ['keys', 'sync'] });
  api = tools(server);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('sync', 'test')`;
});
afterAll(() => server.close());

const newTenant = () => ({ tenant: `tenant-${tenants++}` });
const day = 86_400_000;
const gone = [410, 'resync required'];
const phone = testNode('phone-1');
const refusal = (to: object, node: string, changes: object[]) =>
  api.refusal('POST', '/push', { ...to, body: { NodeID: node, Changes: changes } });

async function sweep(): Promise<void> {
  const { db } = server;
  await runSweep(forgettingSweep({ db, write: createWriter({ db }), settings: readSettings(settings, {}) }));
}

/** Makes what arrived so far look as if it had arrived so many days ago. */
const age = ({ tenant }: { tenant: string }, days: number) =>
  server.db
    .sql`update sync.cells set arrival = arrival - (${days * day}::bigint << 16) where tenant_id = ${tenant}`;

/** A deletion of eight days ago, forgotten, besides a record that lives. Returns when it was. */
async function forgotten(to: { tenant: string }): Promise<number> {
  const at = Date.now() - 8 * day;
  const added = phone.add('alive', 'x', at - 5_000);
  await api.push(
    'phone-1',
    [
      ...[phone.write('dead', 1, at - 1_000), phone.remove('dead', at)],
      ...[phone.write('alive', 1, at - 5_000), phone.count('alive', { inc: 1, dec: 0 }, at - 5_000), added],
      ...[phone.add('alive', 'y', at - 4_000), phone.takeBack('alive', 'x', [tagOf(added)], at - 3_000)],
    ],
    to,
  );
  await age(to, 8);
  await sweep();
  return at;
}

describe('deletions', () => {
  it('are forgotten after their time, not before', async () => {
    const to = newTenant();
    const at = Date.now() - 6 * day;
    await api.push('phone-1', [phone.write('n1', 1, at), phone.remove('n1', at + 1)], to);
    await age(to, 6);
    await sweep();
    expect(await api.record('n1', 'notes', to)).toMatchObject({ tombstone: true });
    expect(await refusal(to, 'phone-1', [phone.write('n1', 2, at)])).toEqual([200, undefined]);
    await age(to, 2);
    await sweep();
    expect(await api.refusal('GET', '/records?table=notes&pk=n1', to)).toEqual([404, 'record not found']);
    const [table] = await api.send('GET', '/tables', to);
    expect(table.horizon_hlc).toEqual({ timestamp: at + 1, counter: 0, node_id: 'phone-1' });
  });

  it('are forgotten once, with an event, and leave nothing behind', async () => {
    const to = newTenant();
    await forgotten(to);
    await sweep();
    const events = await server.db.sql<{ subject: string; data: object }[]>`
      select subject, data from sync.outbox where tenant_id = ${to.tenant} and type = 'sync.tombstones.forgotten'`;
    expect(events).toEqual([
      { subject: 'notes', data: { table: 'notes', count: 2, horizon_hlc: expect.any(String) } },
    ]);
    const left = await server.db.sql`select from sync.tombstones where tenant_id = ${to.tenant}`;
    expect(left).toHaveLength(0);
    const { fields } = await api.record('alive', 'notes', to);
    expect(fields).toMatchObject({ tags: { value: ['y'] }, views: { value: 1 }, title: { value: 1 } });
  });
});

describe('after deletions were forgotten', () => {
  it('no node revives a record by what it wrote before, whatever its name', async () => {
    const to = newTenant();
    const at = await forgotten(to);
    const other = testNode('other');
    for (const change of [
      ...[other.write('dead', 'late', at - 500), other.change({ pk: 'dead', field: 'body', value: 1 }, at)],
      ...[other.count('dead', { inc: 1, dec: 0 }, at - 500), other.add('dead', 1, at - 500)],
      other.write('never seen', 1, at - 500),
    ])
      expect(await refusal(to, 'other', [other.write('new', 1), change])).toEqual(gone);
    expect((await api.pull({}, to)).Changes.map(({ pk }) => pk)).not.toContain('new');
  });

  it('deletions and removals of then are harmless, and what a known deletion covers is dropped', async () => {
    const to = newTenant();
    const at = await forgotten(to);
    const other = testNode('other');
    const removal = other.takeBack('alive', 'z', [`${'0'.repeat(11)}1-0000-x`], at - 500);
    expect((await refusal(to, 'other', [other.remove('dead', at - 500), removal]))[0]).toBe(200);
    expect((await refusal(to, 'other', [other.write('dead', 1, at - 600)]))[0]).toBe(200);
    expect(
      (await refusal(to, 'other', [other.write('both', 1, at - 600), other.remove('both', at - 500)]))[0],
    ).toBe(200);
    expect(await api.record('dead', 'notes', to)).toMatchObject({ tombstone: true });
  });

  it('late edits of what still lives, and everything new, are accepted', async () => {
    const to = newTenant();
    const at = await forgotten(to);
    const known = [
      ...[phone.write('alive', 2, at - 2_000), phone.count('alive', { inc: 5, dec: 0 }, at - 2_000)],
      phone.add('alive', 'y', at - 4_000),
    ];
    expect((await refusal(to, 'phone-1', known))[0]).toBe(200);
    const other = testNode('other');
    expect((await refusal(to, 'other', [other.write('dead', 'anew'), other.write('new', 1)]))[0]).toBe(200);
    const { fields } = await api.record('alive', 'notes', to);
    expect(fields).toMatchObject({ title: { value: 2 }, views: { value: 5 }, tags: { value: ['y'] } });
    expect(await api.record('dead', 'notes', to)).toMatchObject({ fields: { title: { value: 'anew' } } });
  });

  it('one stale push among others does not touch them', async () => {
    const to = newTenant();
    const at = await forgotten(to);
    const bodies = Array.from({ length: 10 }, (_, n) => {
      const node = testNode(`n${n}`);
      return { NodeID: node.id, Changes: [node.write(`p${n}`, 1, n === 4 ? at - 500 : undefined)] };
    });
    const answers = await Promise.all(bodies.map((body) => api.refusal('POST', '/push', { ...to, body })));
    expect(answers.map(([status]) => status)).toEqual(bodies.map((_, n) => (n === 4 ? 410 : 200)));
  });

  it('whoever stands before them begins again; a pull from the beginning that began after them goes on', async () => {
    const to = newTenant();
    const at = await forgotten(to);
    const { LatestHLC } = await api.pull({}, to);
    const old = { ...LatestHLC, timestamp: at - 1_000 };
    const pull = (Since: object, Tables: string[] = []) =>
      api.refusal('POST', '/pull', { ...to, body: { Since, Tables, NodeID: 'phone-1' } });
    expect((await pull(LatestHLC))[0]).toBe(200);
    expect(await pull(old)).toEqual(gone);
    expect(await pull({ ...old, node_id: 'phone-1' })).toEqual(gone);
    expect((await pull(old, ['others']))[0]).toBe(200);
    const start = (stamp: number) => (BigInt(stamp) << 16n).toString(16).padStart(16, '0');
    const now = LatestHLC.timestamp;
    expect((await pull({ ...old, node_id: `${LatestHLC.node_id}:${start(now)}` }))[0]).toBe(200);
    expect(await pull({ ...old, node_id: `${LatestHLC.node_id}:${start(at - 1_000)}` })).toEqual(gone);
    const events = await server.db.sql`
      select from sync.outbox where tenant_id = ${to.tenant} and type = 'sync.node.resync_required'`;
    expect(events).toHaveLength(1);
  });
});
