/** Tests that the largest pushes are merged, also on a database that has never counted its rows. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { type Draft, testNode, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['sync'], strict: false });
  api = tools(server);
});
afterAll(() => server.close());

const phone = testNode('phone-1');
const most = 5_000;
const many = (each: (pk: string) => Draft, name = 'n') =>
  Array.from({ length: most }, (_, at) => each(`${name}${at}`));

it('after many deletions, all kinds of changes are merged', async () => {
  const to = { tenant: 'deletions' };
  for (const name of ['a', 'b', 'c'])
    await api.push(
      'phone-1',
      many((pk) => phone.remove(pk), name),
      to,
    );
  for (const change of [
    (pk: string) => phone.write(pk, 1),
    (pk: string) => phone.count(pk, { inc: 2, dec: 0 }),
    (pk: string) => phone.add(pk, 'x'),
    (pk: string) => phone.remove(pk),
  ])
    expect((await api.push('phone-1', many(change), to)).Merged).toBe(most);
  expect((await api.record(`n${most - 1}`, 'notes', to)).tombstone).toBe(true);
});

it('counters that all fall are merged, and one counter that falls again and again', async () => {
  const to = { tenant: 'counters' };
  for (const inc of [9, 5])
    await api.push(
      'phone-1',
      many((pk) => phone.count(pk, { inc, dec: 0 })),
      to,
    );
  expect((await api.record('n7', 'notes', to)).fields.views).toMatchObject({ value: 9 });
  let inc = 3 * most;
  for (let push = 0; push < 2; push++)
    await api.push(
      'phone-1',
      many(() => phone.count('one', { inc: inc--, dec: 0 })),
      to,
    );
  expect((await api.record('one', 'notes', to)).fields.views).toMatchObject({ value: 3 * most });
});

it('what may have been deleted is refused, however much there is', async () => {
  const to = { tenant: 'stale' };
  await api.push(
    'phone-1',
    many((pk) => phone.write(pk, 1)),
    to,
  );
  await server.db.sql`
    update sync.tables set horizon_hlc = '7fffffffffff-ffff-x' where tenant_id = 'stale'`;
  expect(
    (
      await api.push(
        'phone-1',
        many((pk) => phone.write(pk, 2)),
        to,
      )
    ).Merged,
  ).toBe(most);
  const body = { NodeID: 'phone-1', Changes: many((pk) => phone.write(pk, 1), 'other') };
  expect(await api.refusal('POST', '/push', { ...to, body })).toEqual([410, 'resync required']);
});
