import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Change } from '../../../../generated/sync/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { forgettingStore } from '../forgetting/forgetting.store.ts';
import { arrivalsOf } from '../push/arrivals.ts';
import { pushStore } from '../push/push.store.ts';
import { testNode, tools } from '../testing.ts';
import { type OpenStream, openStream } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
let streams: OpenStream[] = [];
beforeAll(async () => {
  server = await testServer({
    services: ['keys', 'sync'],
    env: { PLINTH_SYNC_STREAM_KEEPALIVE: '1s', PLINTH_SYNC_MAX_STREAMS: '40' },
  });
  api = tools({ request: (...given) => server.request(...given) });
});
afterAll(() => server.close());
afterEach(async () => {
  await Promise.all(streams.map((stream) => stream.close()));
  streams = [];
});

const newTenant = () => ({ tenant: `tenant-${tenants++}` });
const phone = testNode('phone-1');
async function open(
  to: { tenant: string },
  query: Record<string, string> = {},
  last?: string,
): Promise<OpenStream> {
  const { rootToken } = server;
  const stream = await openStream({ url: `${server.url}/sync/stream`, rootToken, ...to, last }, query);
  streams.push(stream);
  return stream;
}
const keysOf = (events: { data: { Changes?: Change[] } }[]) =>
  events.flatMap(({ data }) => (data.Changes ?? []).map(({ pk }) => pk));
const has = (pk: string) => (event: { data: { Changes?: Change[] } }) =>
  (event.data.Changes ?? []).some((change) => change.pk === pk);

describe('a stream', () => {
  it('begins at the beginning and goes on as changes arrive, whatever their readings', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const stream = await open(to);
    const first = await stream.next();
    expect([first!.event, keysOf([first!])]).toEqual(['changes', ['n1']]);
    expect(stream.text()).toMatch(/^retry: 5000\n/);
    await api.push('phone-1', [phone.write('n2', 1, 1_000)], to);
    const second = await stream.next();
    expect(keysOf([second!])).toEqual(['n2']);
    expect(second!.id).toMatch(/^[0-9a-f]{12}-[0-9a-f]{4}-@[0-9a-f]{8}$/);
    expect(second!.data.LatestHLC.node_id).toBe(second!.id!.slice(18));
  });

  it('of a data set that has nothing waits for the first change', async () => {
    const to = newTenant();
    const stream = await open(to);
    await api.push('phone-1', [phone.write('n1', 1)], to);
    expect(keysOf([(await stream.next())!])).toEqual(['n1']);
  });

  it('resumes after its last event, also after the server was started again', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const before = await open(to);
    const { id } = (await before.next())!;
    await before.close();
    await api.push('phone-1', [phone.write('n2', 1)], to);
    await server.restart();
    const after = await open(to, { since: '000000000001-0000-x' }, id);
    await api.push('phone-1', [phone.write('n3', 1)], to);
    expect(keysOf(await after.until(has('n3')))).toEqual(['n2', 'n3']);
  });

  it('from now on has nothing of the past', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const stream = await open(to, { since: 'now' });
    await api.push('phone-1', [phone.write('n2', 1)], to);
    expect(keysOf([(await stream.next())!])).toEqual(['n2']);
  });

  it('has the tables that it asks for; its id advances when it gets nothing, too', async () => {
    const to = newTenant();
    const stream = await open(to, { tables: 'tags,other' });
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const quiet = await stream.next();
    expect(quiet).toMatchObject({ event: 'changes', data: { Changes: [] } });
    await api.push(
      'phone-1',
      [phone.change({ table: 'tags', pk: 't1', value: 1 }), phone.write('n2', 1)],
      to,
    );
    const { id, data } = (await stream.next())!;
    expect(keysOf([{ data }])).toEqual(['t1']);
    expect(id! > quiet!.id!).toBe(true);
  });

  it('leaves out what its node wrote itself', async () => {
    const to = newTenant();
    const stream = await open(to, { since: 'now', node_id: 'phone-1', exclude_own: 'true' });
    await api.push('phone-1', [phone.write('n1', 1)], to);
    await api.push('laptop', [testNode('laptop').write('n2', 1)], to);
    expect(keysOf(await stream.until(has('n2')))).toEqual(['n2']);
    expect((await open(to, { exclude_own: 'true' })).body).toBe('{"error":"exclude_own: needs node_id"}');
  });

  it('finds by itself what no hint told', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const stream = await open(to);
    expect(keysOf([(await stream.next())!])).toEqual(['n1']);
    // Another process stores this, and is killed before it tells of it.
    const changes = [{ ...phone.write('n2', 2), tombstone: false }];
    const subject = { owner: '', exempt: true, actor: 'root', requestId: 'r' };
    const events = { claimed: newId('evt'), pushed: newId('evt'), pushedData: null };
    const push = { node: 'phone-1', subject, arrivals: await arrivalsOf(changes, changes), events };
    const dataset = { ...to, app: 'default' };
    const [verdict] = await pushStore(server.db.sql).merge(dataset, [push], { epoch: '', maxDriftMs: 5_000 });
    expect(verdict!.verdict).toBe('ok');
    expect(keysOf([(await stream.next())!])).toEqual(['n2']);
  });

  it('is silent about repeated pushes, but for a comment', async () => {
    const to = newTenant();
    const change = phone.write('n1', 1);
    await api.push('phone-1', [change], to);
    const stream = await open(to);
    await stream.next();
    await api.push('phone-1', [change], to);
    await api.push('phone-1', [phone.write('n2', 1)], to);
    expect(keysOf(await stream.until(has('n2')))).toEqual(['n2']);
    await api.push('phone-1', [], to);
    const waiting = stream.next();
    await until(() => stream.text().includes(': keep-alive\n'));
    await api.push('phone-1', [phone.write('n3', 1)], to);
    expect(keysOf([(await waiting)!])).toEqual(['n3']);
  });

  it('is refused before its first byte when it must begin again, and ends with the word when that happens later', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const stream = await open(to);
    const { id } = (await stream.next())!;
    const refused = await open(to, { since: `${id!.slice(0, 18)}@00000000`, node_id: 'phone-1' });
    expect([refused.status, refused.body]).toEqual([410, '{"error":"resync required"}']);
    expect((await open(to, { since: `${id!.slice(0, 18)}@x` })).status).toBe(400);
    await forgettingStore(server.db.sql).newEpochs();
    const events = await stream.until(({ event }) => event === 'resync');
    expect(events.at(-1)!.data).toEqual({ error: 'resync required' });
    expect(await stream.next()).toBeUndefined();
  });

  it('ends within a minute after its key was revoked', async () => {
    const made = await server.request('POST', '/keys/v1/keys', {
      body: { name: 'reader', scopes: ['sync:read'] },
    });
    const { raw_key, key } = made.body as { raw_key: string; key: { id: string } };
    vi.useFakeTimers({ toFake: ['setInterval'] });
    try {
      const stream = await openStream({ url: `${server.url}/sync/stream`, rootToken: raw_key });
      streams.push(stream);
      expect(stream.status).toBe(200);
      await server.request('POST', `/keys/v1/keys/${key.id}/revoke`, { body: {} });
      vi.advanceTimersByTime(30_000);
      expect(await stream.next()).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it('of another tenant has nothing of this one', async () => {
    const [mine, theirs] = [newTenant(), newTenant()];
    const stream = await open(theirs);
    await api.push('phone-1', [phone.write('n1', 1)], mine);
    await api.push('phone-1', [phone.write('n2', 1)], theirs);
    expect(keysOf(await stream.until(has('n2')))).toEqual(['n2']);
  });
});

describe('many streams', () => {
  it(
    'all get everything in the same order, also one that reads nothing for a while',
    { timeout: 120_000 },
    async () => {
      const to = newTenant();
      const others = await Promise.all(
        Array.from({ length: 3 }, (_, n) => open(to, n % 2 === 0 ? {} : { tables: 'notes' })),
      );
      const slow = await paused(to);
      const value = 'x'.repeat(120_000);
      const [pushes, each] = [12, 10];
      for (let n = 0; n < pushes; n++)
        await api.push(
          'phone-1',
          Array.from({ length: each }, (_, m) => phone.write(`n${n}-${m}`, value)),
          to,
        );
      const expected = Array.from(
        { length: pushes * each },
        (_, n) => `n${Math.floor(n / each)}-${n % each}`,
      );
      const last = has(expected.at(-1)!);
      for (const stream of others) expect(keysOf(await stream.until(last))).toEqual(expected);
      expect(await slow.keys(expected.at(-1)!)).toEqual(expected);
      slow.close();
    },
  );

  it('that are opened at once are not more than that, and nobody gets an empty one', async () => {
    const to = newTenant();
    const all = await Promise.all(Array.from({ length: 60 }, () => open(to)));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(40);
    expect(all.filter(({ body }) => body === '{"error":"too many streams"}')).toHaveLength(20);
    await Promise.all(all.map((stream) => stream.close()));
    await until(async () => (await open(to)).status === 200);
  });

  it('are so many at most', async () => {
    const to = newTenant();
    let last: OpenStream;
    do last = await open(to);
    while (last.status === 200);
    expect([last.status, last.body]).toEqual([503, '{"error":"too many streams"}']);
    expect(streams.length).toBeLessThan(100);
    await Promise.all(streams.map((stream) => stream.close()));
    await until(async () => (await open(to)).status === 200);
  });
});

/** A stream whose reader takes nothing until it is asked for the keys up to one of them. */
async function paused({ tenant }: { tenant: string }) {
  const headers = { authorization: `Bearer ${server.rootToken}`, 'x-tenant-id': tenant };
  const response = await new Promise<import('node:http').IncomingMessage>((resolve) => {
    request(`${server.url}/sync/stream`, { headers }, resolve).end();
  });
  response.pause();
  return {
    async keys(last: string): Promise<string[]> {
      let text = '';
      for await (const piece of response) {
        text += String(piece);
        if (text.includes(`"pk":"${last}"`) && text.endsWith('\n\n')) break;
      }
      return [...text.matchAll(/"pk":"([^"]+)"/g)].map(([, key]) => key!);
    },
    close: () => response.destroy(),
  };
}
