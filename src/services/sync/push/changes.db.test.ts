import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestRequest, type TestServer } from '../../../testing/server.ts';
import { type Draft, testNode, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
beforeAll(async () => {
  server = await testServer({ services: ['keys', 'sync'] });
  api = tools(server);
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
    const long = Changes.slice(0, 3).map(({ set_op, ...change }) => ({
      ...change,
      set_op: { ...set_op, element: 'x'.repeat(4_000) },
    }));
    expect(await api.refusal('POST', '/push', { body: { NodeID: 'phone-1', Changes: long } })).toEqual([
      400,
      'Changes: elements must have at most 8388608 bytes, counted for each further tag',
    ]);
    expect((await api.push('phone-1', long.slice(0, 2))).Merged).toBe(2);
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
