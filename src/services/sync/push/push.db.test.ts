import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('push', () => {
  it('merges registers, counters, sets and deletions; a pull brings them to others', async () => {
    const to = newTenant();
    const phone = testNode('phone-1');
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
    expect(await api.push('phone-1', changes, to)).toMatchObject({ Merged: 7, Replaced: 0 });
    const { Changes, HasMore, LatestHLC } = await api.pull({}, to);
    expect(HasMore).toBe(false);
    expect(LatestHLC.node_id).toMatch(/^@[0-9a-f]{8}$/);
    expect(
      Changes.map(({ pk, crdt_type, value, counter_delta, set_op, tombstone }) => ({
        ...{ pk, crdt_type, value, counter_delta, set_op, tombstone },
      })),
    ).toEqual([
      { pk: 'n1', crdt_type: 'lww', value: 'Shopping' },
      { pk: 'n1', crdt_type: 'counter', counter_delta: { inc: 12, dec: 1 } },
      { pk: 'n1', crdt_type: 'set', set_op: { op: 'add', element: 'home' } },
      { pk: 'n1', crdt_type: 'set', set_op: { op: 'remove', element: 'urgent', tags: [tagOf(added)] } },
      { pk: 'n2', crdt_type: 'lww', tombstone: true },
    ]);
    expect(await api.pull({ Since: LatestHLC }, to)).toEqual({ Changes: [], HasMore: false, LatestHLC });
    expect(await api.record('n1', 'notes', to)).toMatchObject({
      fields: { title: { value: 'Shopping' }, views: { value: 11 }, tags: { value: ['home'] } },
      tombstone: false,
    });
    expect(await api.record('n2', 'notes', to)).toMatchObject({ fields: {}, tombstone: true });
  });
});
