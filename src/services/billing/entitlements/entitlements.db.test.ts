import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Feature } from '../../../../generated/billing/types.ts';
import { newId } from '../../../lib/ids.ts';
import type { TestRequest, TestServer } from '../../../testing/server.ts';
import { planFeatures, revised, type Subscribed, subscribed } from '../meter/testing.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

const clock = new TestClock('2026-02-20T12:00:00.000Z');
const at = Date.parse('2026-01-15T10:00:00.000Z');
const resets_at = '2026-03-15T10:00:00.000Z';
const own = { tenant: 'acme' };

let server: TestServer;
let api: ReturnType<typeof tools>;
let acme: Subscribed;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  acme = await subscribed(server.db.sql, { tenant: 'acme', at });
});
afterAll(() => server.close());

const use = (feature_key: string, quantity: number, more: object = {}, options: TestRequest = own) =>
  api.send('POST', '/billing/meter/events', { ...options, body: { feature_key, quantity, ...more } });
const check = (feature_key: string, more: object = {}, options: TestRequest = own) =>
  api.send('POST', '/billing/entitlements/check', { ...options, body: { feature_key, ...more } });
const setStatus = (status: string, tenant: string) =>
  server.db.sql`update billing.subscription set status = ${status} where tenant_id = ${tenant}`;

/** Inserts a customer of a tenant. */
async function customerOf(tenant: string): Promise<string> {
  const id = newId('cus');
  const time = new Date(at);
  await server.db.sql`insert into billing.customer ${server.db.sql({
    ...{
      tenant_id: tenant,
      id,
      app_id: 'default',
      name: 'A',
      email: 'a@b.example',
      email_key: id,
      currency: 'usd',
    },
    ...{ billing_address: null, tax_ids: [], metadata: {}, created_at: time, updated_at: time },
  })}`;
  return id;
}

describe('a check', () => {
  it('counts the current month, or all time of a feature that never restarts', async () => {
    await use('calls', 500, { timestamp: '2026-02-01T00:00:00Z' });
    await use('calls', 998.5);
    await use('seats', 2, { timestamp: '2026-02-01T00:00:00Z' });
    await use('seats', 1);
    expect(await check('calls')).toEqual({
      ...{ allowed: true, feature: 'calls', used: 998.5, limit: 1_000, remaining: 1.5, soft_limit: false },
      ...{ type: 'metered', over_limit: false, resets_at },
    });
    expect(await check('calls', { quantity: 1.5 })).toMatchObject({ allowed: true });
    expect(await check('calls', { quantity: 1.500_000_000_001 })).toMatchObject({
      ...{ allowed: false, reason: 'quota_exceeded', remaining: 1.5 },
    });
    expect(await check('seats', { quantity: 3 })).toMatchObject({
      allowed: true,
      used: 3,
      over_limit: true,
      resets_at: null,
    });
    expect(await check('storage')).toMatchObject({ allowed: true, used: 0, limit: -1, remaining: -1 });
    expect(await check('sso')).toMatchObject({ allowed: true, type: 'boolean', remaining: 1 });
    expect(await check('beta')).toMatchObject({ allowed: false, reason: 'feature_disabled' });
    expect(await check('nothing')).toMatchObject({
      allowed: false,
      type: null,
      reason: 'feature_not_in_plan',
    });
  });

  it('knows what has just been recorded, voided, and changed in the plan', async () => {
    const tenant = { tenant: 'fresh' };
    const { plan } = await subscribed(server.db.sql, { tenant: 'fresh', at });
    const { id } = await use('calls', 1_000, {}, tenant);
    expect(await check('calls', {}, tenant)).toMatchObject({ allowed: false, used: 1_000 });
    await api.send('POST', `/billing/meter/events/${id}/void`);
    expect(await check('calls', {}, tenant)).toMatchObject({ allowed: true, used: 0 });
    await revised(server.db.sql, plan, [{ ...planFeatures[0]!, limit: 0 }]);
    expect(await check('calls', {}, tenant)).toMatchObject({ allowed: false, limit: 0 });
    expect(await check('seats', {}, tenant)).toMatchObject({ reason: 'feature_not_in_plan' });
  });

  it('is refused without a live subscription, and while it is paused', async () => {
    const refused = [403, 'no_active_subscription', 'tenant has no active subscription'];
    await subscribed(server.db.sql, { tenant: 'states', at });
    const refusal = (tenant: string) =>
      Promise.all([
        api.refusal('POST', '/billing/entitlements/check', { tenant, body: { feature_key: 'calls' } }),
        api.refusal('POST', '/billing/entitlements/check-batch', {
          tenant,
          body: { feature_keys: ['calls'] },
        }),
      ]);
    expect(await refusal('nobody')).toEqual([refused, refused]);
    for (const status of ['canceled', 'expired', 'paused']) {
      await setStatus(status, 'states');
      expect(await refusal('states')).toEqual([refused, refused]);
    }
    for (const status of ['trialing', 'past_due', 'active']) {
      await setStatus(status, 'states');
      expect(await check('calls', {}, { tenant: 'states' })).toMatchObject({ allowed: true });
    }
  });

  it('is answered for any tenant to the operator, and to others for their own', async () => {
    expect(await check('seats', { tenant_id: 'acme' }, {})).toMatchObject({ used: 3 });
    expect(await check('seats', { tenant_id: 'acme' })).toMatchObject({ used: 3 });
    const foreign = { tenant: 'globex', body: { feature_key: 'seats', tenant_id: 'acme' } };
    expect((await api.refusal('POST', '/billing/entitlements/check', foreign)).slice(0, 2)).toEqual([
      403,
      'forbidden',
    ]);
    expect(
      (await api.refusal('POST', '/billing/entitlements/check', { body: { feature_key: 'seats' } }))[1],
    ).toBe('no_active_subscription');
  });

  it.each([0, -1, 1e308, 1e12 + 1, 1e-13, 0.1 + 0.2, '1'])(
    'of the quantity %j is a 400 that names it',
    async (quantity) => {
      const [status, code, message] = await api.refusal('POST', '/billing/entitlements/check', {
        ...own,
        body: { feature_key: 'calls', quantity },
      });
      expect([status, code, message.startsWith('quantity: ')]).toEqual([400, 'invalid_input', true]);
    },
  );

  it('goes by the last segment while a renewal is late', async () => {
    const late = new Date('2026-02-18T00:00:00Z');
    const { id, course } = await subscribed(server.db.sql, { tenant: 'late', at });
    await use('calls', 3, { timestamp: '2026-02-17T00:00:00Z' }, { tenant: 'late' });
    await server.db.sql`
      update billing.segment set ends_at = ${late}
      where subscription_id = ${id} and starts_at = ${new Date(course.segments[1]!.start)}`;
    expect(await check('calls', {}, { tenant: 'late' })).toMatchObject({ allowed: true, used: 3, resets_at });
  });
});

describe('a check of many features', () => {
  it('answers for each', async () => {
    const body = { feature_keys: ['seats', 'calls', 'constructor', 'seats'] };
    expect(await api.send('POST', '/billing/entitlements/check-batch', { ...own, body })).toEqual({
      results: {
        seats: { allowed: true, used: 3, limit: 5, remaining: 2 },
        calls: { allowed: true, used: 998.5, limit: 1_000, remaining: 1.5 },
        constructor: { allowed: false, used: 0, limit: 0, remaining: 0 },
      },
    });
  });

  it('answers for a hundred, and not for more', async () => {
    const features = Array.from({ length: 100 }, (_, nth): Feature => ({
      ...planFeatures[0]!,
      key: `f${nth}`,
      limit: nth,
    }));
    await subscribed(server.db.sql, { tenant: 'many', at, features });
    const tenant = { tenant: 'many' };
    const feature_keys = features.map(({ key }) => key);
    const events = feature_keys.map((feature_key, quantity) => ({ feature_key, quantity }));
    await api.send('POST', '/billing/meter/events/batch', { ...tenant, body: { events } });
    const { results } = await api.send('POST', '/billing/entitlements/check-batch', {
      ...tenant,
      body: { feature_keys },
    });
    for (const [nth, key] of feature_keys.entries())
      expect(results[key]).toEqual({ allowed: false, used: nth, limit: nth, remaining: 0 });
    const more = { ...tenant, body: { feature_keys: [...feature_keys, 'one_more'] } };
    expect((await api.refusal('POST', '/billing/entitlements/check-batch', more))[0]).toBe(400);
  });
});

describe('the list of a customer', () => {
  it("has the features of the tenant's live subscription", async () => {
    const customer_id = await customerOf('acme');
    for (const options of [own, {}])
      expect(await api.send('GET', `/billing/entitlements/${customer_id}`, options)).toEqual({
        customer_id,
        plan: acme.plan.slug,
        plan_id: acme.plan.planId,
        entitlements: [
          { feature: 'calls', allowed: true, used: 998.5, limit: 1_000, remaining: 1.5, type: 'metered' },
          { feature: 'storage', allowed: true, used: 0, limit: -1, remaining: -1, type: 'metered' },
          { feature: 'seats', allowed: true, used: 3, limit: 5, remaining: 2, type: 'seat' },
          { feature: 'sso', allowed: true, used: 0, limit: 1, remaining: 1, type: 'boolean' },
          { feature: 'beta', allowed: false, used: 0, limit: 0, remaining: 0, type: 'boolean' },
        ],
      });
  });

  it('is empty without a live subscription, and allows nothing while it is paused', async () => {
    const nobody = await customerOf('nobody');
    expect(await api.send('GET', `/billing/entitlements/${nobody}`)).toEqual({
      ...{ customer_id: nobody, plan: null, plan_id: null, entitlements: [] },
    });
    await subscribed(server.db.sql, { tenant: 'paused', at });
    await setStatus('paused', 'paused');
    const { entitlements } = await api.send('GET', `/billing/entitlements/${await customerOf('paused')}`);
    expect(entitlements.map(({ allowed }: { allowed: boolean }) => allowed)).toEqual(
      planFeatures.map(() => false),
    );
  });

  it('is not found for another tenant, and when the customer is deleted', async () => {
    const customer = await customerOf('acme');
    const missing = [404, 'customer_not_found', 'customer not found'];
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/invalidate'],
    ] as const)
      expect(
        await api.refusal(method, `/billing/entitlements/${customer}${path}`, { tenant: 'globex' }),
      ).toEqual(missing);
    await server.db.sql`update billing.customer set deleted_at = ${new Date(at)} where id = ${customer}`;
    expect(await api.refusal('GET', `/billing/entitlements/${customer}`, own)).toEqual(missing);
  });
});

it('to invalidate a customer changes no answer', async () => {
  const customer = await customerOf('acme');
  const before = await check('calls');
  expect(
    (await server.request('POST', `/billing/billing/entitlements/${customer}/invalidate`, own)).status,
  ).toBe(204);
  expect(await check('calls')).toEqual(before);
  const nobody = await customerOf('nobody');
  expect((await server.request('POST', `/billing/billing/entitlements/${nobody}/invalidate`)).status).toBe(
    204,
  );
});
