import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestRequest, type TestServer } from '../../testing/server.ts';
import { testNode, tools } from './testing.ts';

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
