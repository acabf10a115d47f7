/** Tests that streams of one process hear of what another one stores. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { type Proxy, proxyTo } from '../../../testing/proxy.ts';
import { until } from '../../../testing/until.ts';
import { testNode, tools } from '../testing.ts';
import { type OpenStream, openStream } from './testing.ts';

const services = ['keys', 'sync'];

/** The embedded database has one process. */
describe.skipIf(inject('engine') === 'pglite')('two processes', () => {
  let db: ChildDatabase;
  let proxy: Proxy;
  let servers: ChildServer[] = [];
  let streams: OpenStream[] = [];
  beforeAll(async () => {
    db = await childDatabase(services);
    proxy = await proxyTo(db.url!);
    const env = {
      ...db.env,
      DATABASE_URL: proxy.url,
      PLINTH_SYNC_PRESENCE: 'on',
      PLINTH_ROOT_TOKEN: 'root-token-of-both-processes-0001',
    };
    servers = await Promise.all([childServer({ services, env }), childServer({ services, env })]);
  });
  afterEach(async () => {
    await Promise.all(streams.map((stream) => stream.close()));
    streams = [];
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await proxy.close();
    await db.remove();
  });

  async function open(at: number, tenant: string, last?: string): Promise<OpenStream> {
    const { url, rootToken } = servers[at]!;
    const stream = await openStream({ url: `${url}/sync/stream`, rootToken, tenant, last });
    streams.push(stream);
    return stream;
  }

  it('streams of both get the changes of both, in one order', async () => {
    const tenant = 'changes';
    const readers = await Promise.all([0, 0, 1, 1].map((at) => open(at, tenant)));
    const push = async (at: number, id: string) => {
      const node = testNode(id);
      for (let n = 0; n < 10; n++)
        await tools(servers[at]!).push(id, [node.write(`${id}-${n}`, n)], { tenant });
    };
    await Promise.all([push(0, 'a'), push(1, 'b')]);
    await tools(servers[0]!).push('a', [testNode('a').write('last', 1)], { tenant });
    const orders = await Promise.all(
      readers.map(async (reader) => {
        const events = await reader.until(({ data }) =>
          data.Changes.some(({ pk }: { pk: string }) => pk === 'last'),
        );
        return events.flatMap(({ data }) => data.Changes.map(({ pk }: { pk: string }) => pk) as string[]);
      }),
    );
    expect(new Set(orders.map((keys) => keys.join())).size).toBe(1);
    expect(new Set(orders[0]).size).toBe(21);
    expect(orders[0]).toHaveLength(21);
  });

  /** Reads keys as a client does that opens its stream again whenever it has ended, until one of them is `last`. */
  async function keysUntilLast(at: number, tenant: string): Promise<string[]> {
    const keys: string[] = [];
    for (let id: string | undefined; ; await delay(50)) {
      const stream = await open(at, tenant, id);
      if (stream.status !== 200) continue;
      for (let event = await stream.next(); event?.event === 'changes'; event = await stream.next()) {
        id = event.id;
        keys.push(...(event.data.Changes.map(({ pk }: { pk: string }) => pk) as string[]));
        // What was refused may have been stored nevertheless.
        if (keys.includes('last')) return [...new Set(keys)];
      }
    }
  }

  it('streams of both resume after the database was away', async () => {
    const tenant = 'restart';
    const node = testNode('phone');
    const push = async (at: number, pk: string) => {
      const body = { NodeID: node.id, Changes: [node.write(pk, 1)] };
      return (await servers[at]!.request('POST', '/sync/push', { tenant, body })).status;
    };
    expect(await push(0, 'before')).toBe(200);
    const readers = [0, 1].map((at) => keysUntilLast(at, tenant));
    await proxy.cut();
    expect(await push(0, 'away')).toBe(503);
    await proxy.restore();
    await until(async () => (await push(1, 'after')) === 200);
    await until(async () => (await push(0, 'last')) === 200);
    const expected = ['before', 'after', 'last'];
    expect(await Promise.all(readers)).toEqual([expected, expected]);
  });

  it('streams of both hear once who joins, changes and leaves', async () => {
    const tenant = 'presence';
    const readers = await Promise.all([0, 1].map((at) => open(at, tenant)));
    for (const [at, Data] of [1, 2, null].entries()) {
      const body = { NodeID: 'phone', Topic: 'doc', Data };
      const options = { tenant, body };
      await tools(servers[at % 2]!).send('POST', '/presence', options);
      const heard = await Promise.all(readers.map((reader) => reader.next()));
      const expected = { Type: ['join', 'update', 'leave'][at], ...body };
      expect(heard.map((event) => event!.data)).toEqual([expected, expected]);
    }
  });
});
