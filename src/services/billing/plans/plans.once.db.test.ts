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
const absent = 'plan_01h455vb4pex5vsknk084sn02q';
const notFound = [404, 'plan_not_found', 'plan not found'];

describe('create', () => {
  it('fills in what is absent', async () => {
    const made = await plan({
      name: 'Größe Élite',
      features: [{ key: 'calls' }, { key: 'sso', type: 'boolean' }],
    });
    const at = '2026-01-10T09:00:00.000Z';
    expect(made).toEqual({
      ...{
        id: made.id,
        name: 'Größe Élite',
        slug: 'gro-e-elite',
        description: '',
        currency: 'usd',
        status: 'active',
      },
      ...{
        trial_days: 0,
        trial_requires_payment_method: false,
        revision: 1,
        pricing: null,
        app_id: 'default',
      },
      features: [
        { key: 'calls', name: 'calls', type: 'metered', limit: -1, period: 'monthly', soft_limit: false },
        { key: 'sso', name: 'sso', type: 'boolean', limit: 1, period: 'none', soft_limit: false },
      ],
      ...{ metadata: {}, created_at: at, updated_at: at },
    });
    expect(await api.send('GET', `/billing/plans/${made.id}`)).toEqual(made);
    expect(await api.send('GET', '/billing/plans/gro-e-elite')).toEqual(made);
    expect((await events(made)).map(({ type, data }) => [type, data])).toEqual([['created', made]]);
  });

  it('takes everything, and what it answers can be sent again', async () => {
    const money = (amount: number) => ({ amount, currency: 'jpy' });
    const body = {
      ...{ slug: 'everything', description: 'All', status: 'draft', currency: 'jpy', trial_days: 14 },
      ...{ trial_requires_payment_method: true, metadata: { a: [1, { b: null }] } },
      features: [
        { key: 'calls', name: 'Calls', type: 'metered', limit: 5, period: 'none', soft_limit: true },
      ],
      pricing: {
        ...{ base_amount: money(4900), billing_period: 'yearly' },
        tiers: [
          { feature_key: 'calls', type: 'volume', up_to: -1, unit_amount: money(3), flat_amount: money(7) },
        ],
      },
    };
    const made = await plan(body);
    expect(made).toMatchObject(body);
    expect(made.pricing!.base_amount.display).toBe('¥4,900');
    const { features, pricing } = made;
    const again = await plan({ ...body, features, pricing, name: 'Again', slug: 'again' });
    expect(again).toEqual({ ...made, id: again.id, name: 'Again', slug: 'again' });
  });

  it.each([
    ['nothing', {}, '0', 0],
    ['a whole price', { unit_amount: { amount: 12, currency: 'usd' } }, '12', 12],
    ['half a cent', { unit_amount_decimal: '0.5' }, '0.5', 1],
    ['less than half a cent', { unit_amount_decimal: '0.499999999999' }, '0.499999999999', 0],
    ['superfluous zeros', { unit_amount_decimal: '0010.2500' }, '10.25', 10],
    ['both', { unit_amount_decimal: '2.50', unit_amount: { amount: 3, currency: 'usd' } }, '2.5', 3],
  ])('shows both forms of the price of a unit: %s', async (_, price, decimal, amount) => {
    const tiers = [{ feature_key: 'calls', up_to: -1, ...price }];
    const { pricing } = await plan({ features: [{ key: 'calls' }], pricing: { tiers } });
    expect(pricing).toMatchObject({
      billing_period: 'monthly',
      base_amount: { amount: 0, display: '$0.00' },
    });
    expect(pricing!.tiers[0]).toMatchObject({
      type: 'graduated',
      unit_amount_decimal: decimal,
      unit_amount: { amount },
    });
  });

  it.each([
    ['currency: must be a currency code', 'invalid_input', { currency: 'xyq' }],
    ['features.1.key: duplicate', 'duplicate_feature', { features: [{ key: 'a' }, { key: 'a' }] }],
    [
      'pricing.tiers.0.feature_key: no such feature',
      'invalid_pricing',
      { pricing: { tiers: [{ feature_key: 'a', up_to: -1 }] } },
    ],
    [
      'pricing.base_amount.currency: must be usd',
      'invalid_pricing',
      { pricing: { base_amount: { amount: 1, currency: 'eur' } } },
    ],
    ['metadata: at most 5 levels', 'invalid_input', { metadata: { a: { b: { c: { d: { e: {} } } } } } }],
    ['metadata: at most 8192 bytes', 'invalid_input', { metadata: { a: 'x'.repeat(8_192) } }],
    ['metadata: keys must have 1 to 64 characters', 'invalid_input', { metadata: { ['x'.repeat(65)]: 1 } }],
    ['metadata: keys must have 1 to 64 characters', 'invalid_input', { metadata: { '': 1 } }],
  ])('refuses %s', async (message, code, more) => {
    const body = { name: 'Refused', currency: 'usd', ...more };
    const { status, body: answer } = await server.request('POST', '/billing/billing/plans', { body });
    expect([status, answer]).toEqual([
      400,
      { error: { code, message, type: 'validation', param: message.split(': ')[0] } },
    ]);
  });

  it('gives a slug to one of many', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        api.insist('POST', '/billing/plans', { body: { name: 'Race', currency: 'usd' } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(15).fill(409)]);
    const { body } = answers.find(({ status }) => status === 409)!;
    expect(body).toEqual({
      error: { code: 'already_exists', message: 'slug: already exists', type: 'conflict', param: 'slug' },
    });
  });

  it('takes an id for no slug', async () => {
    const body = { name: 'x', currency: 'usd', slug: 'plan_x' };
    expect((await api.refusal('POST', '/billing/plans', { body })).slice(0, 2)).toEqual([
      400,
      'invalid_input',
    ]);
    expect(await api.refusal('GET', '/billing/plans/plan_x')).toEqual(notFound);
  });
});

describe('list', () => {
  it('shows pages, newest first, also of one status', async () => {
    const made = [
      await plan({ status: 'draft' }),
      await plan({ status: 'draft' }),
      await plan({ status: 'draft' }),
    ];
    const ids = made.map(({ id }) => id).reverse();
    const page = await api.send('GET', '/billing/plans?limit=2');
    expect(page.data.map(({ id }: Plan) => id)).toEqual(ids.slice(0, 2));
    expect(page.data[0]).toEqual(made[2]);
    expect(page.pagination).toMatchObject({ limit: 2, offset: 0, has_more: true });
    await api.send('POST', `/billing/plans/${ids[1]}/archive`);
    const drafts = await api.send('GET', '/billing/plans?status=draft&limit=2&offset=1');
    expect(drafts.data[0].id).toBe(ids[2]);
    expect(
      (await api.send('GET', '/billing/plans?status=archived')).data.map(({ id }: Plan) => id),
    ).toContain(ids[1]);
  });
});

describe('a list of large plans', () => {
  it('has shorter pages, and the next one begins after what the last one had', async () => {
    const features = Array.from({ length: 100 }, (_, nth) => ({ key: `f${nth}`, name: '😀'.repeat(200) }));
    const ids: string[] = [];
    for (let nth = 0; nth < 14; nth++) ids.push((await plan({ status: 'archived', features })).id);
    const pages: Plan[][] = [];
    for (let offset = 0; ; offset += pages.at(-1)!.length) {
      const { data, pagination } = await api.send('GET', `/billing/plans?limit=100&offset=${offset}`);
      pages.push(data as Plan[]);
      if (pagination.has_more !== true) break;
    }
    expect(pages.length).toBeGreaterThan(1);
    const listed = pages.flat().map(({ id }) => id);
    expect(listed.slice(0, 14)).toEqual(ids.reverse());
    expect(new Set(listed).size).toBe(listed.length);
  });
});

describe('of others', () => {
  it('a plan that does not exist is not found by anything', async () => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['PUT', '', { name: 'x' }],
      ['DELETE', ''],
      ['POST', '/activate'],
      ['POST', '/archive'],
    ] as const)
      for (const ref of [absent, 'no-such-plan'])
        expect(await api.refusal(method, `/billing/plans/${ref}${path}`, { body })).toEqual(notFound);
  });

  it('a tenant reads plans and changes none', async () => {
    const made = await plan();
    const tenant = { tenant: 'acme' };
    expect(await api.send('GET', `/billing/plans/${made.slug}`, tenant)).toEqual(made);
    expect((await api.send('GET', '/billing/plans?limit=1', tenant)).data).toEqual([made]);
    for (const [method, path, body] of [
      ['POST', '/billing/plans', { name: 'x', currency: 'usd' }],
      ['PUT', `/billing/plans/${made.id}`, { name: 'x' }],
      ['DELETE', `/billing/plans/${made.id}`],
      ['POST', `/billing/plans/${made.id}/activate`],
      ['POST', `/billing/plans/${made.id}/archive`],
    ] as const)
      expect(await api.refusal(method, path, { ...tenant, body })).toEqual([
        403,
        'forbidden',
        'operator only',
      ]);
  });

  it('a plan belongs to its app', async () => {
    const made = await plan();
    const headers = { 'x-app-id': 'app_01h455vb4pex5vsknk084sn02q' };
    expect(await api.refusal('GET', `/billing/plans/${made.id}`, { headers })).toEqual(notFound);
    expect(await api.refusal('GET', `/billing/plans/${made.slug}`, { headers })).toEqual(notFound);
    expect((await api.send('GET', '/billing/plans', { headers })).pagination.total).toBe(0);
  });
});
