import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { planFeatures, revised, type Subscribed, subscribed } from './testing.ts';

/** The subscription began on January 15, so its second month runs. */
const clock = new TestClock('2026-02-20T12:00:00.000Z');
const startsAt = '2026-01-15T10:00:00.000Z';
const own = { tenant: 'acme' };

let server: TestServer;
let api: ReturnType<typeof tools>;
let acme: Subscribed;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  acme = await subscribed(server.db.sql, { tenant: 'acme', at: Date.parse(startsAt) });
  for (const [timestamp, feature_key, quantity] of [
    ['2026-02-20T00:00:00Z', 'calls', 990.5],
    ['2026-02-19T23:59:59.999Z', 'calls', 4],
    ['2026-02-15T10:00:00Z', 'calls', 5],
    ['2026-02-15T09:59:59.999Z', 'calls', 70],
    ['2026-01-31T00:00:00Z', 'calls', 100],
    ['2026-01-31T00:00:00Z', 'seats', 4],
    ['2026-02-19T00:00:00Z', 'seats', 3],
    ['2026-01-20T00:00:00Z', 'storage', 1.5],
    ['2026-02-20T00:00:00Z', 'storage', 1.25],
  ] as const)
    await api.send('POST', '/billing/meter/events', { ...own, body: { timestamp, feature_key, quantity } });
});
afterAll(() => server.close());

const usage = (feature: string, options: object = own) =>
  api.send('GET', `/billing/meter/usage/${acme.id}/${feature}`, options);

describe('the usage', () => {
  const about = (feature_key: string) => ({ feature_key, subscription_id: acme.id });

  it('of a feature that restarts monthly is that of its month', async () => {
    expect(await usage('calls')).toEqual({
      ...about('calls'),
      ...{ current_usage: 999.5, limit: 1_000, remaining: 0.5 },
      ...{ period_start: '2026-02-15T10:00:00.000Z', period_end: '2026-03-15T10:00:00.000Z' },
    });
  });

  it('of a feature that never restarts is that of all time', async () => {
    const forever = { period_start: startsAt, period_end: null };
    expect(await usage('seats')).toEqual({
      ...about('seats'),
      ...{ current_usage: 7, limit: 5, remaining: 0, ...forever },
    });
    expect(await usage('storage')).toMatchObject({
      current_usage: 2.75,
      limit: -1,
      remaining: -1,
      ...forever,
    });
    expect(await usage('sso')).toMatchObject({ current_usage: 0, limit: 1, remaining: 1, ...forever });
  });

  it('is beyond the safe integers shown as the last of them', async () => {
    await subscribed(server.db.sql, { tenant: 'huge', at: Date.parse(startsAt) });
    const events = Array.from({ length: 1_000 }, () => ({ feature_key: 'storage', quantity: 1e12 }));
    for (let turn = 0; turn < 10; turn++)
      await api.send('POST', '/billing/meter/events/batch', { tenant: 'huge', body: { events } });
    const check = { tenant: 'huge', body: { feature_key: 'storage' } };
    expect((await api.send('POST', '/billing/entitlements/check', check)).used).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('is found by the operator, and by nobody else', async () => {
    expect(await usage('calls', {})).toMatchObject({ current_usage: 999.5 });
    const absent = acme.id.replace(/.{4}$/, '0000');
    for (const path of ['calls', 'calls/history']) {
      const [foreign, missing] = await Promise.all(
        [acme.id, absent].map((id) =>
          server.request('GET', `/billing/billing/meter/usage/${id}/${path}`, { tenant: 'globex' }),
        ),
      );
      expect([foreign!.status, foreign!.body.error.code]).toEqual([404, 'subscription_not_found']);
      expect(foreign!.text).toBe(missing!.text);
      expect(
        await api.refusal('GET', `/billing/meter/usage/${acme.id}/${path.replace('calls', 'none')}`, own),
      ).toEqual([404, 'feature_not_found', 'feature not found']);
    }
  });

  it('follows the limits of the current revision of the plan, and outlives the subscription', async () => {
    const one = await subscribed(server.db.sql, { tenant: 'revised', at: Date.parse(startsAt) });
    await revised(server.db.sql, one.plan, [{ ...planFeatures[0]!, limit: 2 }]);
    await server.db.sql`
      update billing.segment set ends_at = ${new Date('2026-02-18T00:00:00Z')} where subscription_id = ${one.id}
        and starts_at = ${new Date(one.course.segments[1]!.start)}`;
    await server.db.sql`update billing.subscription set status = 'canceled' where id = ${one.id}`;
    expect(await api.send('GET', `/billing/meter/usage/${one.id}/calls`)).toMatchObject({
      ...{ limit: 2, remaining: 2, period_start: '2026-02-15T10:00:00.000Z' },
    });
  });
});

describe('the history', () => {
  const history = async (query: string) =>
    (await api.send('GET', `/billing/meter/usage/${acme.id}/calls/history${query}`, own)).data;

  it('has a bucket for each day, also for those without use', async () => {
    expect(await history('?start=2026-02-14&end=2026-02-21')).toEqual([
      { period: '2026-02-14', usage: 0 },
      { period: '2026-02-15', usage: 75 },
      { period: '2026-02-16', usage: 0 },
      { period: '2026-02-17', usage: 0 },
      { period: '2026-02-18', usage: 0 },
      { period: '2026-02-19', usage: 4 },
      { period: '2026-02-20', usage: 990.5 },
    ]);
  });

  it('by weeks begins on Mondays', async () => {
    expect(await history('?granularity=weekly&start=2026-01-26&end=2026-02-20T00:00:00.001Z')).toEqual([
      { period: '2026-01-26', usage: 100 },
      { period: '2026-02-02', usage: 0 },
      { period: '2026-02-09', usage: 75 },
      { period: '2026-02-16', usage: 994.5 },
    ]);
  });

  it('by months', async () => {
    expect(await history('?granularity=monthly&start=2026-01-31')).toEqual([
      { period: '2026-01-01', usage: 100 },
      { period: '2026-02-01', usage: 1_069.5 },
    ]);
  });

  it('has 30 buckets until now unless it is told otherwise', async () => {
    const data = await history('');
    expect([data.length, data[0].period, data[29]]).toEqual([
      30,
      '2026-01-22',
      { period: '2026-02-20', usage: 990.5 },
    ]);
  });

  it.each([
    ['?start=2026-02-20&end=2026-02-20', 'start: must be before end'],
    ['?start=2026-02-21', 'start: must be before end'],
    ['?start=2024-01-01&end=2026-01-01', 'start: at most 400 periods before end'],
    ['?start=0001-01-01&end=9999-12-31&granularity=monthly', 'start: at most 400 periods before end'],
    ['?end=2026-02-30', 'end: must be a time such as 2026-11-20T09:30:00Z'],
  ])('%s is refused', async (query, message) => {
    expect(await api.refusal('GET', `/billing/meter/usage/${acme.id}/calls/history${query}`, own)).toEqual([
      400,
      'invalid_input',
      message,
    ]);
  });

  it('is empty at the start and the end of all time', async () => {
    expect(await history('?end=0001-01-01')).toEqual([]);
    expect(await history('?start=9999-12-01&end=9999-12-31&granularity=monthly')).toEqual([
      { period: '9999-12-01', usage: 0 },
    ]);
  });
});
