import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestRequest, type TestServer } from '../../../testing/server.ts';
import { tagOf, testNode, tools } from '../testing.ts';

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
const phone = testNode('phone-1');
const empty = async (to: TestRequest) => expect((await api.pull({}, to)).Changes).toEqual([]);

const eventsOf = ({ tenant }: { tenant: string }) =>
  server.db.sql<{ type: string; subject: string; data: object }[]>`
    select type, subject, data from sync.outbox where tenant_id = ${tenant} order by seq`;

describe('a push', () => {
  it('merges registers, counters, sets and deletions, and a pull brings them to others', async () => {
    const to = newTenant();
    const added = phone.add('n1', 'urgent');
    const changes = [
      phone.write('n1', 'Shopping'),
      phone.count('n1', { inc: 12, dec: 1 }),
      added,
      phone.add('n1', 'home'),
      phone.takeBack('n1', 'urgent', [tagOf(added)]),
      phone.write('n2', 'gone'),
      phone.remove('n2'),
    ];
    const pushed = await api.push('phone-1', changes, to);
    expect(pushed).toMatchObject({ Merged: 7, Replaced: 0, LatestHLC: { node_id: '@clock' } });
    const { Changes, HasMore, LatestHLC } = await api.pull({}, to);
    expect(HasMore).toBe(false);
    expect(LatestHLC.node_id).toMatch(/^@[0-9a-f]{8}$/);
    const shown = Changes.map(({ table: _, field: __, hlc: ___, node_id: ____, ...rest }) => rest);
    expect(shown).toEqual([
      { pk: 'n1', crdt_type: 'lww', value: 'Shopping' },
      { pk: 'n1', crdt_type: 'counter', counter_delta: { inc: 12, dec: 1 } },
      { pk: 'n1', crdt_type: 'set', set_op: { op: 'add', element: 'home' } },
      { pk: 'n1', crdt_type: 'set', set_op: { op: 'remove', element: 'urgent', tags: [tagOf(added)] } },
      { pk: 'n2', crdt_type: 'lww', tombstone: true },
    ]);
    expect(Changes[0]!.hlc).toEqual(changes[0]!.hlc);
    expect(await api.pull({ Since: LatestHLC }, to)).toEqual({ Changes: [], HasMore: false, LatestHLC });
  });

  it('that is repeated changes nothing, and brings nothing to others', async () => {
    const to = newTenant();
    const added = phone.add('n1', 1);
    const changes = [
      ...[phone.write('n1', 1), phone.count('n1', { inc: 1, dec: 0 }), added, phone.add('n1', 2)],
      ...[phone.takeBack('n1', 1, [tagOf(added)]), phone.write('n2', 1), phone.remove('n2')],
    ];
    await api.push('phone-1', changes, to);
    const { LatestHLC } = await api.pull({}, to);
    const cells = () =>
      server.db
        .sql`select pk, kind, sub, hlc, removed, arrival::text from sync.cells where tenant_id = ${to.tenant} order by arrival`;
    const before = await cells();
    expect(await api.push('phone-1', changes, to)).toMatchObject({ Merged: 7 });
    expect(await cells()).toEqual(before);
    expect((await api.pull({ Since: LatestHLC }, to)).Changes).toEqual([]);
  });

  it('is kept as a whole or not at all', async () => {
    const to = newTenant();
    const changes = Array.from({ length: 5_000 }, (_, at) => phone.write(`n${at}`, at));
    const bad = changes.with(4_321, { ...changes[4_321]!, field: '' });
    expect(await api.refusal('POST', '/push', { ...to, body: { NodeID: 'phone-1', Changes: bad } })).toEqual([
      400,
      'Changes[4321].field: required',
    ]);
    await empty(to);
    expect((await api.push('phone-1', changes, to)).Merged).toBe(5_000);
    expect((await api.pullAll({ Limit: 10_000 }, to)).changes).toHaveLength(5_000);
  });

  it('of nothing is an answer with the clock', async () => {
    const to = newTenant();
    expect(
      await api.send('POST', '/push', { ...to, body: { NodeID: 'phone-1', Changes: null } }),
    ).toMatchObject({
      Merged: 0,
    });
    expect((await api.pull({}, to)).LatestHLC).toEqual({ timestamp: 0, counter: 0, node_id: '' });
    expect(await api.send('GET', '/info', to)).toMatchObject({ epoch: null, max_push_bytes: 8_388_608 });
  });

  it('creates 256 tables at most', async () => {
    const to = newTenant();
    const tables = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => phone.change({ table: `t${from + at}`, value: 1 }));
    await api.push('phone-1', tables(0, 255), to);
    const body = { NodeID: 'phone-1', Changes: tables(254, 3) };
    expect(await api.refusal('POST', '/push', { ...to, body })).toEqual([409, 'limit reached: 256 tables']);
    await api.push('phone-1', tables(254, 2), to);
    expect(await api.send('GET', '/tables', to)).toHaveLength(256);
    expect((await api.pull({ Limit: 10_000 }, to)).Changes).toHaveLength(256);
  });

  it('is told in one event, and the first one of a node in another', async () => {
    const to = newTenant();
    const change = phone.write('n1', 1);
    await api.push('phone-1', [change, phone.change({ table: 'tags', value: 1 })], to);
    await api.push('phone-1', [change], to);
    const [claimed, pushed, again, ...others] = await eventsOf(to);
    expect(others).toEqual([]);
    expect(claimed).toMatchObject({
      type: 'sync.node.claimed',
      subject: 'phone-1',
      data: { owner: 'root:root' },
    });
    expect(pushed).toMatchObject({ type: 'sync.changes.pushed', subject: 'phone-1' });
    expect(pushed!.data).toMatchObject({
      node_id: 'phone-1',
      merged: 2,
      replaced: 0,
      tables: { notes: 1, tags: 1 },
    });
    expect(again!.data).toMatchObject({ merged: 1 });
  });
});

describe('the clock', () => {
  const pushAt = (to: TestRequest, ahead: number) => {
    const change = phone.write('n1', ahead, Date.now() + ahead);
    return api.refusal('POST', '/push', {
      ...to,
      body: { NodeID: 'phone-1', Changes: [phone.write('n2', 1), change] },
    });
  };

  it('of a change may be ahead of the database a little, and behind it as much as it likes', async () => {
    const to = newTenant();
    expect((await pushAt(to, 4_000))[0]).toBe(200);
    expect((await pushAt(to, -31_536_000_000))[0]).toBe(200);
    expect((await api.pull({}, to)).Changes).toHaveLength(2);
  });

  it('of a change that is further ahead is refused, with how far, and moves nothing', async () => {
    const to = newTenant();
    const [status, error] = await pushAt(to, 60_000);
    expect(status).toBe(400);
    expect(error).toMatch(/^clock drift: Changes\[1\]\.hlc is (59|60)\d{3} ms ahead, at most 5000$/);
    await empty(to);
    expect((await api.pull({}, to)).LatestHLC.timestamp).toBe(0);
  });
});

describe('many pushes at once', () => {
  it('are merged together, each with its own verdict', async () => {
    const to = newTenant();
    const good = Array.from({ length: 40 }, (_, n) => ({
      NodeID: `n${n}`,
      Changes: [testNode(`n${n}`).write(`p${n}`, n)],
    }));
    const drifting = { NodeID: 'bad', Changes: [testNode('bad').write('bad', 1, Date.now() + 60_000)] };
    const answers = await Promise.all(
      [...good.slice(0, 20), drifting, ...good.slice(20)].map((body) =>
        api.refusal('POST', '/push', { ...to, body }),
      ),
    );
    expect(answers.map(([status]) => status)).toEqual([
      ...Array.from({ length: 20 }, () => 200),
      400,
      ...Array.from({ length: 20 }, () => 200),
    ]);
    const { changes } = await api.pullAll({ Limit: 7 }, to);
    expect(changes.map(({ pk }) => pk).sort()).toEqual(good.map((_, n) => `p${n}`).sort());
  });
});
