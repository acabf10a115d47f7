import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { forgettingStore } from '../forgetting/forgetting.store.ts';
import { testNode, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
beforeAll(async () => {
  server = await testServer({ services: ['sync'] });
  api = tools(server);
});
afterAll(() => server.close());

const newTenant = () => ({ tenant: `tenant-${tenants++}` });
const phone = testNode('phone-1');
const gone = [410, 'resync required'];
const refusal = (body: object, to: object) => api.refusal('POST', '/pull', { ...to, body });

describe('a pull', () => {
  it('never misses what arrives late, however old it is', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const { LatestHLC } = await api.pull({}, to);
    const old = testNode('old').write('n2', 'written last week', Date.now() - 7 * 86_400_000);
    await api.push('old', [old], to);
    expect((await api.pull({ Since: LatestHLC }, to)).Changes.map(({ pk }) => pk)).toEqual(['n2']);
  });

  it('comes in pages, in the order of arrival, and names the moment at which it began', async () => {
    const to = newTenant();
    await api.push(
      'phone-1',
      Array.from({ length: 7 }, (_, n) => phone.write(`n${n}`, n)),
      to,
    );
    const first = await api.pull({ Limit: 3 }, to);
    expect(first.HasMore).toBe(true);
    expect(first.LatestHLC.node_id).toMatch(/^@[0-9a-f]{8}:[0-9a-f]{16}$/);
    const second = await api.pull({ Limit: 4, Since: first.LatestHLC }, to);
    expect(second.HasMore).toBe(false);
    expect(second.LatestHLC.node_id).toMatch(/^@[0-9a-f]{8}$/);
    const keys = [...first.Changes, ...second.Changes].map(({ pk }) => pk);
    expect(keys).toEqual(Array.from({ length: 7 }, (_, n) => `n${n}`));
  });

  it('in pages ends with everything, although cells change meanwhile', async () => {
    const to = newTenant();
    await api.push(
      'phone-1',
      Array.from({ length: 20 }, (_, n) => phone.write(`n${n}`, 0)),
      to,
    );
    const seen = new Map<string, unknown>();
    let since: object = {};
    for (let round = 0; ; round++) {
      const page = await api.pull({ Limit: 4, ...since }, to);
      for (const { pk, value } of page.Changes) seen.set(pk, value);
      if (!page.HasMore) break;
      since = { Since: page.LatestHLC };
      if (round < 5)
        await api.push(
          'phone-1',
          [phone.write(`n${round * 4}`, round), phone.write(`n${19 - round}`, round)],
          to,
        );
    }
    const { changes } = await api.pullAll({}, to);
    expect(seen).toEqual(new Map(changes.map(({ pk, value }) => [pk, value])));
    expect(seen.size).toBe(20);
  });

  it('has the tables that it asks for, and its watermark moves nevertheless', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const { LatestHLC } = await api.pull({ Tables: ['tags'] }, to);
    await api.push('phone-1', [phone.write('n2', 1), phone.change({ table: 'tags', value: 1 })], to);
    const { Changes } = await api.pull({ Tables: ['tags', 'none'], Since: LatestHLC }, to);
    expect(Changes.map(({ table }) => table)).toEqual(['tags']);
    expect((await api.pull({ Tables: ['none'], Since: LatestHLC }, to)).LatestHLC.timestamp).toBeGreaterThan(
      0,
    );
  });

  it('leaves out what the node wrote itself, but not at the beginning', async () => {
    const to = newTenant();
    const laptop = testNode('laptop');
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const own = { NodeID: 'phone-1', ExcludeOwn: true };
    const { LatestHLC, Changes } = await api.pull(own, to);
    expect(Changes).toHaveLength(1);
    await api.push('phone-1', [phone.write('n2', 1)], to);
    await api.push('laptop', [laptop.write('n3', 1)], to);
    const next = await api.pull({ ...own, Since: LatestHLC }, to);
    expect(next.Changes.map(({ pk }) => pk)).toEqual(['n3']);
    expect(await refusal({ ExcludeOwn: true }, to)).toEqual([400, 'ExcludeOwn: needs NodeID']);
  });

  it('ends a page at 4 MiB', async () => {
    const to = newTenant();
    const value = 'x'.repeat(262_142);
    for (let n = 0; n < 20; n += 10)
      await api.push(
        'phone-1',
        Array.from({ length: 10 }, (_, m) => phone.write(`n${n + m}`, value)),
        to,
      );
    const first = await api.pull({}, to);
    expect([first.Changes.length, first.HasMore]).toEqual([16, true]);
    const second = await api.pull({ Since: first.LatestHLC }, to);
    expect([second.Changes.length, second.HasMore]).toEqual([4, false]);
  });
});

describe('since', () => {
  it('a reading of another clock brings what arrived after that time', async () => {
    const to = newTenant();
    const pushed = await api.push('phone-1', [phone.write('n1', 1)], to);
    await api.push('phone-1', [phone.write('n2', 1)], to);
    const { Changes } = await api.pull({ Since: pushed.LatestHLC }, to);
    expect(Changes.map(({ pk }) => pk)).toEqual(['n2']);
    const early = { timestamp: 1, counter: 0, node_id: 'phone-1' };
    expect((await api.pull({ Since: early }, to)).Changes).toHaveLength(2);
    expect((await api.pull({ Since: { timestamp: 0, counter: 0, node_id: 'x' } }, to)).Changes).toHaveLength(
      2,
    );
  });

  it('a watermark of another life, or beyond the clock, begins again', async () => {
    const to = newTenant();
    await api.push('phone-1', [phone.write('n1', 1)], to);
    const { LatestHLC } = await api.pull({}, to);
    const other = { ...LatestHLC, node_id: '@00000000' };
    expect(await refusal({ Since: other }, to)).toEqual(gone);
    expect(await refusal({ Since: { ...LatestHLC, timestamp: LatestHLC.timestamp + 1_000 } }, to)).toEqual(
      gone,
    );
    expect(
      await refusal({ Since: { ...LatestHLC, node_id: `${LatestHLC.node_id}:7fffffffffffffff` } }, to),
    ).toEqual(gone);
    for (const node_id of ['@x', '@clock2', `${LatestHLC.node_id}:12`])
      expect(await refusal({ Since: { ...LatestHLC, node_id } }, to)).toEqual([
        400,
        'Since.node_id: not a reading that this server gave',
      ]);
    await forgettingStore(server.db.sql).newEpochs();
    expect(await refusal({ Since: LatestHLC }, to)).toEqual(gone);
    const { LatestHLC: fresh, Changes } = await api.pull({}, to);
    expect(Changes).toHaveLength(1);
    expect(fresh.node_id).not.toBe(LatestHLC.node_id);
  });
});

describe('pushers and pullers at the same time', () => {
  it('no puller ever skips what a pusher stored', { timeout: 120_000 }, async () => {
    const to = newTenant();
    const rounds = 12;
    let writing = 8;
    const pusher = async (n: number) => {
      const node = testNode(`node-${n}`);
      for (let at = 0; at < rounds; at++)
        await api.push(node.id, [node.write(`${n}-${at}`, at), node.write('shared', `${n}-${at}`)], to);
      writing -= 1;
    };
    const puller = async () => {
      const seen = new Set<string>();
      let since: object = {};
      for (let more = true; more;) {
        const last = writing === 0;
        const page = await api.pull({ Limit: 5, ...since }, to);
        for (const { pk } of page.Changes) seen.add(pk);
        since = { Since: page.LatestHLC };
        more = !last || page.HasMore;
      }
      return seen.size;
    };
    const [, sizes] = await Promise.all([
      Promise.all(Array.from({ length: 8 }, (_, n) => pusher(n))),
      Promise.all(Array.from({ length: 4 }, puller)),
    ]);
    expect(sizes).toEqual(Array.from({ length: 4 }, () => 8 * rounds + 1));
  });
});
