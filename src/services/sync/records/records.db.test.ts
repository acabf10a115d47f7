import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tagOf, testNode, tools } from '../testing.ts';

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
const laptop = testNode('laptop-2');
const at = Date.now() - 60_000;

it('a record has the values of its fields, and what they are made of', async () => {
  const to = newTenant();
  const urgent = phone.add('n1', 'urgent', at);
  const changes = [
    ...[phone.write('n1', 'a', at), laptop.write('n1', 'b', at)],
    ...[phone.count('n1', { inc: 5, dec: 1 }, at), phone.count('n1', { inc: 3, dec: 2 }, at + 1)],
    ...[laptop.count('n1', { inc: 1, dec: 0 }, at), urgent, laptop.add('n1', 'urgent', at + 2)],
    phone.takeBack('n1', 'urgent', [tagOf(urgent)], at + 3),
  ];
  await api.push('relay', changes, to);
  const hlc = (timestamp: number, node_id: string) => ({ timestamp, counter: 0, node_id });
  expect(await api.record('n1', 'notes', to)).toEqual({
    ...{ table: 'notes', pk: 'n1', tombstone: false, tombstone_hlc: null, truncated: false },
    fields: {
      title: {
        ...{ type: 'lww', hlc: hlc(at, 'phone-1'), node_id: 'phone-1', value: 'a' },
        ...{ counter_state: null, set_state: null },
      },
      views: {
        ...{ type: 'counter', hlc: hlc(at + 1, 'phone-1'), node_id: 'phone-1', value: 4, set_state: null },
        counter_state: { inc: { 'phone-1': 5, 'laptop-2': 1 }, dec: { 'phone-1': 2, 'laptop-2': 0 } },
      },
      tags: {
        ...{
          type: 'set',
          hlc: hlc(at + 2, 'laptop-2'),
          node_id: 'laptop-2',
          value: ['urgent'],
          counter_state: null,
        },
        set_state: {
          entries: [{ element: 'urgent', tags: [tagOf({ hlc: hlc(at + 2, 'laptop-2') })] }],
          truncated: false,
        },
      },
    },
  });
});

it('a deletion covers what is as old as it, in every order; a newer write shows only what is newer', async () => {
  const changes = [
    ...[phone.write('n1', 'older', at - 1), laptop.change({ pk: 'n1', field: 'equal', value: 1 }, at)],
    ...[phone.change({ pk: 'n1', field: 'newer', value: 1 }, at + 1), testNode('x').remove('n1', at)],
    ...[phone.count('n1', { inc: 7, dec: 0 }, at - 1)],
    phone.count('n1', { inc: 1, dec: 0, since: tagOf(testNode('x').remove('n1', at)) }, at + 1),
  ];
  for (const order of [changes, [...changes].reverse(), [...changes.slice(3), ...changes.slice(0, 3)]]) {
    const to = newTenant();
    for (const change of order) await api.push('relay', [change], to);
    const { fields, tombstone, tombstone_hlc } = await api.record('n1', 'notes', to);
    expect(Object.keys(fields).sort()).toEqual(['newer', 'views']);
    expect(fields['views']!.value).toBe(1);
    expect([tombstone, tombstone_hlc?.node_id]).toEqual([false, 'x']);
  }
});

it('a field that two nodes write with two types shows the later one everywhere', async () => {
  const later = phone.count('n1', { inc: 2, dec: 0 }, at + 1);
  const earlier = laptop.change({ pk: 'n1', field: 'views', value: 'text' }, at);
  for (const order of [
    [later, earlier],
    [earlier, later],
  ]) {
    const to = newTenant();
    for (const change of order) await api.push('relay', [change], to);
    expect((await api.record('n1', 'notes', to)).fields['views']).toMatchObject({
      type: 'counter',
      value: 2,
    });
  }
});

it('records are listed by key, in pages, with those that were deleted', async () => {
  const to = newTenant();
  const keys = ['a', 'b', 'B', 'ä', '😀', 'c'];
  await api.push('relay', [...keys.map((pk) => phone.write(pk, pk)), phone.remove('b')], to);
  await api.push('relay', [phone.change({ table: 'other', pk: 'x', value: 1 })], to);
  const seen = [];
  for (let cursor = ''; ;) {
    const page = await server.request('GET', `/sync/tables/notes/records?limit=2${cursor}`, to);
    seen.push(...(page.body as { pk: string; tombstone: boolean }[]));
    const next = page.headers.get('x-next-cursor');
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  expect(seen.map(({ pk }) => pk)).toEqual(['B', 'a', 'b', 'c', 'ä', '😀']);
  expect(seen.filter(({ tombstone }) => tombstone).map(({ pk }) => pk)).toEqual(['b']);
  expect(seen[1]).toEqual(await api.record('a', 'notes', to));
  expect(await api.send('GET', '/tables/none/records', to)).toEqual([]);
});

it('a page of large records is shorter, and a record that is larger than a response says so', async () => {
  const to = newTenant();
  const value = 'x'.repeat(260_000);
  for (const pk of ['a', 'b', 'c']) {
    const fields = Array.from({ length: 9 }, (_, n) => phone.change({ pk, field: `f${n}`, value }));
    await api.push('relay', fields, to);
  }
  const page = await server.request('GET', '/sync/tables/notes/records', to);
  expect((page.body as { pk: string }[]).map(({ pk }) => pk)).toEqual(['a']);
  const rest = await server.request(
    'GET',
    `/sync/tables/notes/records?cursor=${page.headers.get('x-next-cursor')}`,
    to,
  );
  expect((rest.body as { pk: string }[]).map(({ pk }) => pk)).toEqual(['b']);
  const more = Array.from({ length: 9 }, (_, n) => phone.change({ pk: 'a', field: `g${n}`, value }));
  await api.push('relay', more, to);
  await api.push('relay', [phone.count('a', { inc: 3, dec: 1 })], to);
  const { truncated, fields } = await api.record('a', 'notes', to);
  expect([truncated, Object.keys(fields).length]).toEqual([true, 17]);
});
