import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestRequest, type TestServer } from '../../../testing/server.ts';
import { type Draft, tagOf, testNode, tools } from '../testing.ts';

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

async function keyOf(
  { tenant }: { tenant: string },
  scopes = ['sync:read', 'sync:write'],
): Promise<TestRequest> {
  const { body } = await server.request('POST', '/keys/v1/keys', { tenant, body: { name: 'k', scopes } });
  return { apiKey: body.raw_key };
}

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

describe('a change is refused', () => {
  const at = { timestamp: 1_000_000_000_000, counter: 0, node_id: 'phone-1' };
  const early = '00e8d4a50fff-0000-x';
  const late = '00e8d4a51000-0001-x';
  const remove = (tags?: string[]) => ({ op: 'remove' as const, element: 1, ...(tags && { tags }) });
  it.each<[string, Draft, string]>([
    ['without a reading', { hlc: { timestamp: 0, counter: 0, node_id: 'phone-1' } }, 'hlc: must not be zero'],
    [
      'of another node',
      { node_id: 'x', hlc: { ...at, node_id: 'x' } },
      'node_id: must be the NodeID of the push',
    ],
    ['by another clock', { hlc: { ...at, node_id: 'x' } }, 'hlc.node_id: must be the node_id of the change'],
    ['without a field', { field: '' }, 'field: required'],
    ['of a field that is null', { field: null }, 'field: required'],
    ['without a type', { crdt_type: null }, 'crdt_type: required'],
    ['of a field and all', { tombstone: true, field: 'x' }, 'field: must be empty with tombstone'],
    ['with a foreign total', { counter_delta: { inc: 1, dec: 0 } }, 'counter_delta: only for counter'],
    ['with a foreign element', { set_op: { op: 'add', element: 1 } }, 'set_op: only for set'],
    [
      'with a value',
      { crdt_type: 'set', set_op: { op: 'add', element: 1 }, value: 1 },
      'value: only for lww',
    ],
    ['without totals', { crdt_type: 'counter' }, 'counter_delta: required'],
    [
      'since later',
      { crdt_type: 'counter', counter_delta: { inc: 0, dec: 0, since: late } },
      'counter_delta.since: must be earlier than hlc',
    ],
    ['without an element', { crdt_type: 'set' }, 'set_op: required'],
    ['without tags', { crdt_type: 'set', set_op: remove() }, 'set_op.tags: required'],
    [
      'with tags for an add',
      { crdt_type: 'set', set_op: { op: 'add', element: 1, tags: [early] } },
      'set_op.tags: only for remove',
    ],
    [
      'with a later tag',
      { crdt_type: 'set', set_op: remove([early, late]) },
      'set_op.tags[1]: must be earlier than hlc',
    ],
    ['with a long value', { value: 'x'.repeat(262_143) }, 'value: at most 262144 bytes'],
    [
      'with a long element',
      { crdt_type: 'set', set_op: { op: 'add', element: 'ä'.repeat(2_048) } },
      'set_op.element: at most 4096 bytes',
    ],
  ])('%s', async (_, draft, problem) => {
    const to = newTenant();
    const key = await keyOf(to);
    const changes = [phone.write('n1', 1), phone.change({ hlc: at, ...draft })];
    const body = { NodeID: 'phone-1', Changes: changes };
    expect(await api.refusal('POST', '/push', { ...key, body })).toEqual([400, `Changes[1].${problem}`]);
    await empty(to);
  });

  it.each([
    ['an operation on a list', { list_op: {} }, 'Changes[0].list_op: unknown'],
    ['another type', { crdt_type: 'rga' }, /^Changes\[0\]\.crdt_type: /],
    ['a reading beyond the range', { hlc: { ...at, counter: 65_536 } }, /^Changes\[0\]\.hlc\.counter: /],
    ['a table with a space', { table: 'a b' }, /^Changes\[0\]\.table: /],
    ['a control character', { pk: 'a\u0001' }, /^Changes\[0\]\.pk: /],
    ['U+0000 in a value', { value: { a: ['\0'] } }, /must not contain U\+0000/],
    [
      'too many levels',
      { value: JSON.parse('['.repeat(62) + ']'.repeat(62)) as unknown },
      'body: nested deeper than 64 levels',
    ],
    ['a lone surrogate in a value', { value: '\ud800' }, /lone surrogate/],
    ['a node of the server', { node_id: '@clock' }, /^Changes\[0\]\.node_id: /],
  ])('that has %s', async (_, draft, problem) => {
    const key = await keyOf(newTenant());
    const body = { NodeID: 'phone-1', Changes: [{ ...phone.write('n1', 1), ...draft }] };
    const [status, error] = await api.refusal('POST', '/push', { ...key, body });
    expect(status).toBe(400);
    expect(error).toMatch(problem);
  });

  it.each(['1e400', '123456789012345678901234567890'])('that has the number %s', async (number) => {
    const text = JSON.stringify({ NodeID: 'phone-1', Changes: [phone.write('n1', 'HERE')] });
    const [status] = await api.refusal('POST', '/push', { body: text.replace('"HERE"', number) });
    expect(status).toBe(400);
  });

  it('when the removals of a push name too many tags', async () => {
    const tags = Array.from(
      { length: 1_000 },
      (_, n) => `00000000000${(n % 9) + 1}-${n.toString(16).padStart(4, '0')}-x`,
    );
    const Changes = Array.from({ length: 21 }, (_, n) => phone.takeBack(`n${n}`, 1, tags));
    expect(await api.refusal('POST', '/push', { body: { NodeID: 'phone-1', Changes } })).toEqual([
      400,
      'Changes: must name at most 20000 tags',
    ]);
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

describe('spelling', () => {
  it('is folded in bodies and readings; answers have the one spelling', async () => {
    const to = newTenant();
    const { hlc, ...change } = phone.write('n1', 1);
    const folded = { Timestamp: hlc.timestamp, COUNTER: hlc.counter, nodeId: hlc.node_id };
    const body = { node_id: 'phone-1', changes: [{ ...change, hlc: folded }] };
    expect(await api.send('POST', '/push', { ...to, body })).toMatchObject({ Merged: 1 });
    const since = { TIME_STAMP: 1, counter: 0, NodeID: 'x' };
    const pulled = await api.send('POST', '/pull', {
      ...to,
      body: { tables: ['notes'], since, nodeID: 'x', has_more: undefined },
    });
    expect(pulled.Changes[0].hlc).toEqual(hlc);
  });

  it.each([
    [{ NodeID: 'phone-1', node_id: 'phone-1' }, 'NodeID: given more than once'],
    [{ NodeID: 'phone-1', unknown: 1 }, 'unknown: unknown'],
  ])('of a body with %j is refused', async (body, message) => {
    expect(await api.refusal('POST', '/push', { body })).toEqual([400, message]);
  });
});

describe('names and values', () => {
  const odd = `'"%;--$1 \\ __proto__ ‮ 😀`;
  it('of every shape come back as they are', async () => {
    const to = newTenant();
    const node = testNode('user@example.com');
    const values = [odd, '__proto__', -0, 1e-7, 1.0, null, [], {}, { a: { __proto__x: 2 }, b: 1 }, 'ü'];
    const changes = [
      ...values.map((value, at) => node.change({ pk: odd, field: `${odd}${at}`, value })),
      node.change({
        pk: '__proto__',
        field: '__proto__',
        value: JSON.parse('{"__proto__":{"x":1}}') as unknown,
      }),
    ];
    await api.push('user@example.com', changes, to);
    const { Changes } = await api.pull({}, to);
    expect(Changes.map(({ value }) => JSON.stringify(value))).toEqual(
      changes.map(({ value }) => JSON.stringify(value)),
    );
    expect(Changes.map(({ pk, field }) => [pk, field])).toEqual(changes.map(({ pk, field }) => [pk, field]));
    const { fields } = await api.record('__proto__', 'notes', to);
    expect(Object.keys(fields)).toEqual(['__proto__']);
  });

  it('of elements are equal when their canonical forms are', async () => {
    const to = newTenant();
    const elements = [{ b: 1, a: 2 }, { a: 2.0, b: 1 }, 1, '1'];
    await api.push(
      'phone-1',
      elements.map((element) => phone.add('n1', element)),
      to,
    );
    const { fields } = await api.record('n1', 'notes', to);
    expect(fields['tags']!.value).toEqual(['1', 1, { a: 2, b: 1 }]);
  });
});

describe('node ids', () => {
  it('belong to the first subject that uses them', async () => {
    const to = newTenant();
    const [mine, theirs] = await Promise.all([keyOf(to), keyOf(to)]);
    const body = { NodeID: 'phone-1', Changes: [phone.write('n1', 1)] };
    await api.send('POST', '/push', { ...mine, body });
    expect(await api.refusal('POST', '/push', { ...theirs, body })).toEqual([
      403,
      'node id belongs to another subject',
    ]);
    await api.send('POST', '/push', { ...mine, body });
    // Root relays, also the changes of several nodes.
    await api.push('relay', [phone.write('n1', 2), testNode('x').write('n1', 3)], to);
    await api.send('POST', '/push', { ...to, body });
    const [{ node_id, owner, ...times }] = (await api.send('GET', '/nodes', to)).filter(
      (node: { node_id: string }) => node.node_id === 'phone-1',
    );
    expect([node_id, owner]).toEqual(['phone-1', expect.stringMatching(/^key:/)]);
    expect(times).toEqual({
      first_seen_at: expect.any(String),
      last_push_at: expect.any(String),
      last_pull_at: null,
    });
    await api.send('POST', '/pull', { ...mine, body: { NodeID: 'phone-1' } });
    const after = await api.send('GET', '/nodes?limit=1000', to);
    expect(after.find((node: { node_id: string }) => node.node_id === 'phone-1').last_pull_at).toEqual(
      expect.any(String),
    );
  });

  it('are free again when an administrator says so', async () => {
    const to = newTenant();
    const [mine, theirs] = await Promise.all([keyOf(to), keyOf(to)]);
    const body = { NodeID: 'phone-1', Changes: [phone.write('n1', 1)] };
    await api.send('POST', '/push', { ...mine, body });
    expect((await api.refusal('DELETE', '/nodes/phone-1', mine))[0]).toBe(403);
    await api.send('DELETE', '/nodes/phone-1', to);
    expect(await api.refusal('DELETE', '/nodes/phone-1', to)).toEqual([404, 'node not found']);
    await api.send('POST', '/push', { ...theirs, body });
    expect((await api.refusal('POST', '/push', { ...mine, body }))[0]).toBe(403);
  });

  it('have one owner when many subjects use them first', async () => {
    const to = newTenant();
    const keys = await Promise.all(Array.from({ length: 8 }, () => keyOf(to)));
    const body = { NodeID: 'phone-1', Changes: [phone.write('n1', 1)] };
    const statuses = await Promise.all(
      keys.map(async (key) => (await api.refusal('POST', '/push', { ...key, body }))[0]),
    );
    expect(statuses.sort()).toEqual([200, ...Array.from({ length: 7 }, () => 403)]);
  });

  it('are listed newest first, in pages', async () => {
    const to = newTenant();
    for (const id of ['a', 'b', 'c']) await api.push(id, [], to);
    const first = await server.request('GET', '/sync/nodes?limit=2', to);
    const cursor = first.headers.get('x-next-cursor')!;
    const rest = await api.send('GET', `/nodes?limit=2&cursor=${cursor}`, to);
    expect([...first.body, ...rest].map(({ node_id }) => node_id)).toEqual(['c', 'b', 'a']);
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

describe('tenants', () => {
  it('see nothing of each other', async () => {
    const [mine, theirs] = [newTenant(), newTenant()];
    await api.push('phone-1', [phone.write('n1', 1)], mine);
    await empty(theirs);
    expect(await api.send('GET', '/tables', theirs)).toEqual([]);
    expect(await api.send('GET', '/nodes', theirs)).toEqual([]);
    expect(await api.refusal('GET', '/records?table=notes&pk=n1', theirs)).toEqual([404, 'record not found']);
    const { LatestHLC } = await api.pull({}, mine);
    expect(await api.refusal('POST', '/pull', { ...theirs, body: { Since: LatestHLC } })).toEqual([
      410,
      'resync required',
    ]);
  });
});
