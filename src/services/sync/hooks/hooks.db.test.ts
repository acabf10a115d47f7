import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { openStream } from '../stream/testing.ts';
import { testNode, tools } from '../testing.ts';
import { calls } from './fixture/hooks.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
beforeAll(async () => {
  const hooks = fileURLToPath(new URL('fixture/hooks.ts', import.meta.url));
  server = await testServer({ services: ['keys', 'sync'], env: { PLINTH_SYNC_HOOKS: hooks } });
  api = tools(server);
});
afterAll(() => server.close());

const newTenant = () => ({ tenant: `tenant-${tenants++}` });
const phone = testNode('phone-1');
const refusal = (to: object, ...changes: object[]) =>
  api.refusal('POST', '/push', { ...to, body: { NodeID: 'phone-1', Changes: changes } });

it('hooks see each change in their order, and what fails after the commit changes nothing', async () => {
  const to = newTenant();
  calls.length = 0;
  await api.push('phone-1', [phone.write('n1', 1), phone.write('n2', 1)], to);
  const seen = ['n1', 'n2'].flatMap((pk) => [`first ${pk}`, `second ${pk} push root:root`]);
  expect(calls).toEqual([...seen, 'after n1', 'after n2']);
  expect((await api.pull({}, to)).Changes).toHaveLength(2);
});

it('a rejected change refuses its whole push', async () => {
  const to = newTenant();
  expect(await refusal(to, phone.write('n1', 1), phone.write('bad', 1))).toEqual([
    403,
    'change rejected: bad word',
  ]);
  expect((await api.pull({}, to)).Changes).toEqual([]);
});

it('a replaced value beats the original at its author, too, and a repeat changes nothing', async () => {
  const to = newTenant();
  const written = phone.write('replaced', 'original');
  expect(await api.push('phone-1', [written], to)).toMatchObject({ Merged: 1, Replaced: 1 });
  const { Changes, LatestHLC } = await api.pull({ NodeID: 'phone-1' }, to);
  expect(Changes).toMatchObject([{ pk: 'replaced', value: 'twice', node_id: LatestHLC.node_id }]);
  expect(Changes[0]!.hlc.timestamp).toBeGreaterThanOrEqual(written.hlc.timestamp);
  await api.push('phone-1', [written], to);
  const own = { NodeID: 'phone-1', ExcludeOwn: true, Since: LatestHLC };
  expect((await api.pull(own, to)).Changes).toEqual([]);
  await api.push('phone-1', [phone.write('replaced', 'newer')], to);
  expect((await api.pull(own, to)).Changes).toMatchObject([{ value: 'twice' }]);
});

it('a replaced element is taken back and another one added; a repeat changes nothing', async () => {
  const to = newTenant();
  const added = phone.add('replaced', 'original');
  expect(await api.push('phone-1', [added], to)).toMatchObject({ Replaced: 1 });
  expect((await api.record('replaced', 'notes', to)).fields['tags']!.value).toEqual(['twice']);
  const { Changes, LatestHLC } = await api.pull({}, to);
  expect(Changes.map(({ set_op }) => [set_op!.op, set_op!.element])).toEqual([
    ['remove', 'original'],
    ['add', 'twice'],
  ]);
  await api.push('phone-1', [added], to);
  expect((await api.pull({ Since: LatestHLC }, to)).Changes).toEqual([]);
});

it('a hook that replaces more than a value, or breaks, is an error of the server, and nothing is kept', async () => {
  const to = newTenant();
  for (const change of [
    phone.write('moved', 1),
    phone.count('counter', { inc: 1, dec: 0 }),
    phone.write('broken', 1),
  ])
    expect(await refusal(to, phone.write('n1', 1), change)).toEqual([500, 'internal error']);
  expect((await api.pull({}, to)).Changes).toEqual([]);
});

it('what is withheld is in no page and no stream, and the watermark passes it', async () => {
  const to = newTenant();
  const { rootToken } = server;
  const stream = await openStream({ url: `${server.url}/sync/stream`, rootToken, ...to });
  await api.push('phone-1', [phone.write('secret', 1), phone.write('withheld', 1)], to);
  const { Changes, LatestHLC } = await api.pull({}, to);
  expect(Changes).toEqual([]);
  await api.push('phone-1', [phone.write('shown', 1)], to);
  expect((await api.pull({ Since: LatestHLC }, to)).Changes.map(({ pk }) => pk)).toEqual(['shown']);
  const events = await stream.until(({ data }) => data.Changes.length > 0);
  expect(events.at(-1)!.data.Changes.map(({ pk }: { pk: string }) => pk)).toEqual(['shown']);
  await stream.close();
});
