import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestRequest, type TestServer } from '../../../testing/server.ts';
import { openStream, type OpenStream } from '../stream/testing.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
let streams: OpenStream[] = [];
beforeAll(async () => {
  server = await testServer({ services: ['keys', 'sync'], env: { PLINTH_SYNC_PRESENCE: 'on' } });
  api = tools(server);
});
afterAll(() => server.close());
afterEach(async () => {
  await Promise.all(streams.map((stream) => stream.close()));
  streams = [];
});

const newTenant = () => ({ tenant: `tenant-${tenants++}` });
const announce = (to: TestRequest, NodeID: string, Topic: string, Data?: unknown) =>
  api.send('POST', '/presence', { ...to, body: { NodeID, Topic, Data } }) as Promise<{ Type: string }>;
const onTopic = (to: TestRequest, topic: string) => api.send('GET', `/presence?topic=${topic}`, to);
async function open(to: { tenant: string }, query: Record<string, string> = {}): Promise<OpenStream> {
  const stream = await openStream(
    { url: `${server.url}/sync/stream`, rootToken: server.rootToken, ...to },
    query,
  );
  streams.push(stream);
  return stream;
}
/** The kinds and data of the events up to the one with this data. */
async function heard(stream: OpenStream, last: unknown) {
  const events = await stream.until(({ data }) => JSON.stringify(data.Data) === JSON.stringify(last));
  return events.map(({ event, id, data }) => [event, id, data.Type, data.Data]);
}
const expire = (to: { tenant: string }, node: string) =>
  server.db
    .sql`update sync.presence set expires_at = now() where tenant_id = ${to.tenant} and node_id = ${node}`;

describe('presence', () => {
  it('is joined, changed, renewed and left; every reader of the topic hears of it once', async () => {
    const to = newTenant();
    const readers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => open(to, n % 2 === 0 ? {} : { topics: 'x,doc' })),
    );
    const elsewhere = await open(to, { topics: 'other' });
    const kinds = [];
    for (const data of [{ b: 1, a: 2 }, { a: 2, b: 1 }, { a: 3 }, null, null])
      kinds.push((await announce(to, 'phone', 'doc', data)).Type);
    expect(kinds).toEqual(['join', 'update', 'update', 'leave', 'leave']);
    await announce(to, 'phone', 'doc', 'again');
    await announce(to, 'phone', 'other', 'end');
    for (const reader of readers) {
      const events = await heard(reader, 'again');
      // Whoever is slower hears what is left of it: at least the last word, and never one twice.
      expect(events.at(-1)).toEqual(['presence', undefined, 'join', 'again']);
      expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(events.length);
    }
    expect(await heard(elsewhere, 'end')).toEqual([['presence', undefined, 'join', 'end']]);
  });

  it('is told step by step to whoever follows', async () => {
    const to = newTenant();
    const reader = await open(to);
    const told = async (data: unknown) => {
      await announce(to, 'phone', 'doc', data);
      return (await reader.next())!.data;
    };
    const base = { NodeID: 'phone', Topic: 'doc' };
    expect(await told(1)).toEqual({ ...base, Type: 'join', Data: 1 });
    await announce(to, 'phone', 'doc', 1);
    expect(await told(2)).toEqual({ ...base, Type: 'update', Data: 2 });
    expect(await told(null)).toEqual({ ...base, Type: 'leave', Data: null });
    expect(await told(3)).toEqual({ ...base, Type: 'join', Data: 3 });
  });

  it('expires when it is not renewed, and then the node leaves', async () => {
    const to = newTenant();
    const reader = await open(to);
    await announce(to, 'gone', 'doc', 1);
    await announce(to, 'here', 'doc', 2);
    await expire(to, 'gone');
    expect((await onTopic(to, 'doc')).States.map(({ NodeID }: { NodeID: string }) => NodeID)).toEqual([
      'here',
    ]);
    const events = await reader.until(({ data }) => data.Type === 'leave');
    expect(events.at(-1)!.data).toEqual({ Type: 'leave', NodeID: 'gone', Topic: 'doc', Data: null });
    await server.db.sql`update sync.presence set expires_at = now() where not present`;
    await expect
      .poll(() => server.db.sql`select from sync.presence where tenant_id = ${to.tenant}`, {
        timeout: 20_000,
      })
      .toHaveLength(1);
  });

  it('is shown by topic, in the order of the nodes', async () => {
    const to = newTenant();
    for (const id of ['b', 'a']) await announce(to, id, 'doc', { of: id });
    expect(await onTopic(to, 'doc')).toEqual({
      Topic: 'doc',
      States: ['a', 'b'].map((NodeID) => ({
        ...{ NodeID, Topic: 'doc', Data: { of: NodeID } },
        ...{ UpdatedAt: expect.any(String), ExpiresAt: expect.any(String) },
      })),
    });
    expect(await onTopic(to, 'unknown')).toEqual({ Topic: 'unknown', States: [] });
    expect((await onTopic(newTenant(), 'doc')).States).toEqual([]);
  });

  it('has room for 100 topics of a node', async () => {
    const to = newTenant();
    const answers = await Promise.all(
      Array.from({ length: 103 }, (_, n) =>
        api.refusal('POST', '/presence', { ...to, body: { NodeID: 'phone', Topic: `t${n}`, Data: 1 } }),
      ),
    );
    const refused = answers.filter(([status]) => status !== 200);
    expect(refused).toEqual(Array.from({ length: 3 }, () => [409, 'limit reached: 100 topics of a node']));
    await announce(to, 'phone', `t${answers.findIndex(([status]) => status === 200)}`, null);
    expect((await announce(to, 'phone', 'more', 1)).Type).toBe('join');
  });

  it('has room for 1,000 nodes on a topic', async () => {
    const to = newTenant();
    await announce(to, 'first', 'doc', 1);
    await server.db.sql`
      insert into sync.presence (tenant_id, app_id, topic, node_id, data, present, joined_rev, rev, updated_at, expires_at)
      select tenant_id, app_id, topic, 'n' || n, data, true, joined_rev, rev, updated_at, expires_at
      from sync.presence, generate_series(1, 999) as n where tenant_id = ${to.tenant}`;
    const body = { NodeID: 'last', Topic: 'doc', Data: 1 };
    expect(await api.refusal('POST', '/presence', { ...to, body })).toEqual([
      409,
      'limit reached: 1000 nodes in a topic',
    ]);
    expect((await onTopic(to, 'doc')).States).toHaveLength(1_000);
    expect((await announce(to, 'first', 'doc', 2)).Type).toBe('update');
  });

  it('belongs to the owner of the node id, and its data have a limit', async () => {
    const to = newTenant();
    const keys = await Promise.all(
      [1, 2].map(() =>
        server.request('POST', '/keys/v1/keys', { ...to, body: { name: 'k', scopes: ['sync:write'] } }),
      ),
    );
    const [mine, theirs] = keys.map(({ body }) => ({ apiKey: body.raw_key as string }));
    await announce(mine!, 'phone', 'doc', 1);
    const body = { NodeID: 'phone', Topic: 'doc', Data: null };
    expect(await api.refusal('POST', '/presence', { ...theirs, body })).toEqual([
      403,
      'node id belongs to another subject',
    ]);
    expect((await onTopic(to, 'doc')).States).toHaveLength(1);
    const long = { ...body, Data: 'x'.repeat(10_239) };
    expect(await api.refusal('POST', '/presence', { ...mine, body: long })).toEqual([
      400,
      'Data: at most 10240 bytes',
    ]);
    const comma = { ...body, Topic: 'a,b' };
    expect((await api.refusal('POST', '/presence', { ...mine, body: comma }))[0]).toBe(400);
  });
});
