import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plan } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

const clock = new TestClock('2026-01-10T09:00:00Z');
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('billing', 'test')`;
});
afterAll(() => server.close());

let count = 0;
const plan = async (more: object = {}): Promise<Plan> =>
  (await api.send('POST', '/billing/plans', {
    body: { name: `Plan ${++count}`, currency: 'usd', ...more },
  })) as Plan;
const events = async ({ id }: { id: string }) =>
  await server.db.sql<{ type: string; data: { previous?: object } }[]>`
    select replace(type, 'billing.plan.', '') as type, data from billing.outbox where subject = ${id} order by id`;

describe('update', () => {
  const tiers = [{ feature_key: 'calls', up_to: -1, unit_amount_decimal: '0.5' }];
  const priced = () =>
    plan({
      features: [
        { key: 'calls', limit: 5 },
        { key: 'sso', type: 'boolean' },
      ],
      pricing: { tiers },
    });
  const put = async ({ id }: Plan, body: object) =>
    (await api.send('PUT', `/billing/plans/${id}`, { body })) as Plan;

  it.each([
    ['the same', {}, 1],
    [
      'what it has',
      {
        features: [
          { key: 'calls', limit: 5 },
          { key: 'sso', type: 'boolean' },
        ],
        pricing: { tiers },
      },
      1,
    ],
    [
      'the same price in another form',
      { pricing: { tiers: [{ ...tiers[0], unit_amount_decimal: '0.50' }] } },
      1,
    ],
    ['texts', { name: 'Other', description: 'New', trial_days: 3, metadata: { a: 1 } }, 1],
    ['a limit', { features: [{ key: 'calls', limit: 6 }] }, 2],
    ['no price', { pricing: null }, 2],
    ['another price', { pricing: { tiers: [{ ...tiers[0], unit_amount_decimal: '0.51' }] } }, 2],
  ])('raises the revision only with features or prices: %s', async (_, change, revision) => {
    const before = await priced();
    const after = await put(before, change);
    expect(after.revision).toBe(revision);
    expect(await api.send('GET', `/billing/plans/${before.id}`)).toEqual(after);
    const rows = await server.db.sql`
      select revision from billing.plan_revision where plan_id = ${before.id} order by revision`;
    expect(rows.map((row) => row['revision'])).toEqual(revision === 1 ? [1] : [1, 2]);
  });

  it('tells what it changed, and says nothing when nothing changed', async () => {
    const before = await priced();
    clock.turn(1_000);
    const { name, slug, currency, status } = before;
    expect(await put(before, { name, slug, currency, status })).toEqual(before);
    const after = await put(before, { name: 'Other' });
    expect(after).toEqual({ ...before, name: 'Other', updated_at: new Date(clock.now()).toISOString() });
    const [, updated, ...more] = await events(before);
    expect([updated, more]).toEqual([
      { type: 'updated', data: { ...after, previous: { name: before.name } } },
      [],
    ]);
  });

  it('checks new features against the prices that stay', async () => {
    const before = await priced();
    const body = { features: [{ key: 'sso', type: 'boolean' }] };
    expect(await api.refusal('PUT', `/billing/plans/${before.id}`, { body })).toEqual([
      400,
      'invalid_pricing',
      'pricing.tiers.0.feature_key: no such feature',
    ]);
    expect(await put(before, { ...body, pricing: null })).toMatchObject({ revision: 2, pricing: null });
  });

  it('keeps every change of many at once', async () => {
    const before = await priced();
    await Promise.all(
      Array.from({ length: 12 }, (_, limit) =>
        put(before, { features: [{ key: 'calls', limit: limit + 100 }] }),
      ),
    );
    expect(await api.send('GET', `/billing/plans/${before.id}`)).toMatchObject({ revision: 13 });
  });

  it('is refused for an archived plan', async () => {
    const before = await priced();
    await api.send('POST', `/billing/plans/${before.id}/archive`);
    const refusal = [400, 'plan_archived', 'plan is archived'];
    expect(await api.refusal('PUT', `/billing/plans/${before.id}`, { body: { name: 'x' } })).toEqual(refusal);
  });
});

describe('activate and archive', () => {
  it('change the status once', async () => {
    const { id } = await plan({ status: 'draft' });
    for (const [verb, status] of [
      ['activate', 'active'],
      ['activate', 'active'],
      ['archive', 'archived'],
      ['archive', 'archived'],
      ['activate', 'active'],
    ])
      expect(await api.send('POST', `/billing/plans/${id}/${verb}`)).toMatchObject({ status, revision: 1 });
    const told = (await events({ id })).map(({ type, data }) => [type, data.previous]);
    expect(told).toEqual([
      ['created', undefined],
      ['activated', { status: 'draft' }],
      ['archived', { status: 'active' }],
      ['activated', { status: 'archived' }],
    ]);
  });
});
