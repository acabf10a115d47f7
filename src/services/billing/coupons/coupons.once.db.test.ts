import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Coupon } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

const clock = new TestClock('2026-01-12T09:00:00Z');
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

let count = 0;
const coupon = async (more: object = {}): Promise<Coupon> => {
  const body = { code: `CODE-${++count}`, type: 'percentage', percentage: '10', ...more };
  return (await api.send('POST', '/billing/coupons', { body })) as Coupon;
};
const absent = 'cpn_01h455vb4pex5vsknk084sn02q';
const notFound = [404, 'coupon_not_found', 'coupon not found'];
const usd = (amount: number) => ({ amount, currency: 'usd' });

describe('create', () => {
  it('fills in what is absent', async () => {
    const made = await coupon({ code: 'Welcome_10' });
    const at = '2026-01-12T09:00:00.000Z';
    expect(made).toEqual({
      ...{
        id: made.id,
        code: 'Welcome_10',
        name: 'Welcome_10',
        type: 'percentage',
        percentage: '10',
        amount: null,
      },
      ...{ currency: null, duration: 'once', duration_periods: null, max_redemptions: 0, times_redeemed: 0 },
      ...{
        valid_from: null,
        valid_until: null,
        active: true,
        app_id: 'default',
        metadata: {},
        created_at: at,
        updated_at: at,
      },
    });
    for (const ref of [made.id, 'Welcome_10', 'WELCOME_10', 'welcome_10'])
      expect(await api.send('GET', `/billing/coupons/${ref}`)).toEqual(made);
  });

  it('takes everything, and an answer that is sent back with another code', async () => {
    const body = {
      ...{
        name: 'Five',
        type: 'amount',
        percentage: null,
        amount: usd(500),
        duration: 'repeating',
        duration_periods: 3,
      },
      ...{
        max_redemptions: 7,
        valid_from: '2026-02-01T00:00:00.000Z',
        valid_until: '2026-03-01T00:00:00.000Z',
      },
      metadata: { a: 1 },
    };
    const made = await coupon(body);
    expect(made).toMatchObject({ ...body, currency: 'usd', active: false });
    expect(made.amount).toEqual({ ...usd(500), display: '$5.00' });
    const again = await coupon({ ...body, amount: made.amount, code: 'again' });
    expect(again).toEqual({ ...made, id: again.id, code: 'again' });
  });

  it.each([
    ['percentage: required for a coupon of this type', { percentage: null }],
    ['amount: required for a coupon of this type', { type: 'amount', percentage: null }],
    ['amount: not for a coupon of this type', { amount: usd(5) }],
    ['percentage: not for a coupon of this type', { type: 'amount', amount: usd(5) }],
    ['amount.amount: must be more than 0', { type: 'amount', percentage: null, amount: usd(0) }],
    [
      'amount.currency: must be a currency code',
      { type: 'amount', percentage: null, amount: { amount: 1, currency: 'xyq' } },
    ],
    ['duration_periods: required for a repeating coupon', { duration: 'repeating' }],
    ['duration_periods: only for a repeating coupon', { duration_periods: 2 }],
    ['duration_periods: only for a repeating coupon', { duration: 'forever', duration_periods: 2 }],
    [
      'valid_until: must be after valid_from',
      { valid_from: '2026-02-01T00:00:00Z', valid_until: '2026-02-01T00:00:00Z' },
    ],
    ['metadata: keys must have 1 to 64 characters', { metadata: { '': 1 } }],
  ])('refuses %s', async (message, more) => {
    const body = { code: 'refused', type: 'percentage', percentage: '10', ...more };
    expect(await api.refusal('POST', '/billing/coupons', { body })).toEqual([400, 'invalid_input', message]);
  });

  it.each(['0', '0.0', '100.1', '101', '-5', '1e1', '12.34567'])(
    'takes no percentage %s',
    async (percentage) => {
      const body = { code: 'refused', type: 'percentage', percentage };
      expect((await api.refusal('POST', '/billing/coupons', { body })).slice(0, 2)).toEqual([
        400,
        'invalid_input',
      ]);
    },
  );

  it('gives a code to one of many, in whatever case', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => {
        const body = { code: at % 2 === 0 ? 'RACE' : 'race', type: 'percentage', percentage: '5' };
        return api.refusal('POST', '/billing/coupons', { body });
      }),
    );
    expect(answers.filter(([status]) => status === 201)).toHaveLength(1);
    const taken = [409, 'already_exists', 'code: already exists'];
    expect(answers.filter(([status]) => status !== 201)).toEqual(Array(15).fill(taken));
  });
});

describe('list', () => {
  it('shows pages, newest first, of those that may be redeemed now or of the others', async () => {
    const [past, soon] = ['2026-01-12T08:59:59.999Z', '2026-01-12T09:00:00.001Z'];
    const now = '2026-01-12T09:00:00.000Z';
    const started = await coupon({ valid_from: now });
    const early = await coupon({ valid_from: soon });
    const ended = await coupon({ valid_from: past, valid_until: now });
    const lasting = await coupon({ valid_until: soon });
    const used = await coupon({ max_redemptions: 1 });
    await server.db.sql`update billing.coupon set times_redeemed = 1 where id = ${used.id}`;
    const ids = async (query: string) =>
      (await api.send('GET', `/billing/coupons?limit=5&${query}`)).data.map(({ id }: Coupon) => id);
    expect((await ids('active=true')).slice(0, 2)).toEqual([lasting.id, started.id]);
    expect((await ids('active=false')).slice(0, 3)).toEqual([used.id, ended.id, early.id]);
    expect(await ids('')).toEqual([used.id, lasting.id, ended.id, early.id, started.id]);
    const { data } = await api.send('GET', '/billing/coupons?limit=5');
    expect(data.map(({ active }: Coupon) => active)).toEqual([false, true, false, false, true]);
    const { total } = (await api.send('GET', '/billing/coupons')).pagination;
    const [one, other] = [
      await api.send('GET', '/billing/coupons?active=true'),
      await api.send('GET', '/billing/coupons?active=false'),
    ];
    expect(one.pagination.total + other.pagination.total).toBe(total);
  });
});

describe('update', () => {
  it('changes what may change, and ignores the rest', async () => {
    const before = await coupon({ valid_from: '2026-02-01T00:00:00Z' });
    clock.turn(1_000);
    const body = {
      name: 'New',
      max_redemptions: 3,
      valid_until: '2026-05-01T00:00:00.000Z',
      metadata: { a: 1 },
    };
    const after = await api.send('PUT', `/billing/coupons/${before.code}`, { body: { ...before, ...body } });
    expect(after).toEqual({ ...before, ...body, updated_at: new Date(clock.now()).toISOString() });
    expect(await api.send('GET', `/billing/coupons/${before.id}`)).toEqual(after);
    const early = { body: { valid_until: '2026-01-31T00:00:00Z' } };
    const refusal = [400, 'invalid_input', 'valid_until: must be after valid_from'];
    expect(await api.refusal('PUT', `/billing/coupons/${before.id}`, early)).toEqual(refusal);
    const cleared = { body: { valid_until: null, max_redemptions: null } };
    expect(await api.send('PUT', `/billing/coupons/${before.id}`, cleared)).toMatchObject({
      valid_until: null,
      max_redemptions: 0,
    });
    clock.turn(1_000);
    const same = await api.send('PUT', `/billing/coupons/${before.id}`, { body: { name: 'New' } });
    expect(Date.parse(same.updated_at)).toBeLessThan(clock.now());
  });
});

describe('delete', () => {
  it('lets a coupon vanish and frees its code', async () => {
    const { id, code } = await coupon();
    await api.send('DELETE', `/billing/coupons/${code.toLowerCase()}`);
    for (const ref of [id, code])
      expect(await api.refusal('GET', `/billing/coupons/${ref}`)).toEqual(notFound);
    expect(await coupon({ code })).toMatchObject({ code });
  });
});

describe('of others', () => {
  it('a coupon that does not exist is not found by anything', async () => {
    for (const ref of [absent, 'no-such-code'])
      for (const [method, body] of [['GET'], ['PUT', { name: 'x' }], ['DELETE']] as const)
        expect(await api.refusal(method, `/billing/coupons/${ref}`, { body })).toEqual(notFound);
  });

  it('a tenant neither reads nor writes coupons', async () => {
    const { id, code } = await coupon();
    for (const [method, path, body] of [
      ['POST', '/billing/coupons', { code: 'mine', type: 'percentage', percentage: '100' }],
      ['GET', '/billing/coupons'],
      ['GET', `/billing/coupons/${id}`],
      ['GET', `/billing/coupons/${code}`],
      ['GET', '/billing/coupons/no-such-code'],
      ['PUT', `/billing/coupons/${id}`, { name: 'x' }],
      ['DELETE', `/billing/coupons/${id}`],
    ] as const)
      expect(await api.refusal(method, path, { tenant: 'acme', body })).toEqual([
        403,
        'forbidden',
        'operator only',
      ]);
  });

  it('a coupon belongs to its app', async () => {
    const { id } = await coupon();
    const headers = { 'x-app-id': 'app_01h455vb4pex5vsknk084sn02q' };
    expect(await api.refusal('GET', `/billing/coupons/${id}`, { headers })).toEqual(notFound);
  });
});
