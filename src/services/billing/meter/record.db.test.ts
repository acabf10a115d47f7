import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestRequest, TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { type Subscribed, subscribed, sumsOf } from './testing.ts';

const day = 86_400_000;
const start = '2026-01-15T10:00:00.000Z';
const clock = new TestClock('2026-03-01T12:00:00.000Z');
const shifted = (ms: number) => new Date(clock.now() + ms).toISOString();

let server: TestServer;
let api: ReturnType<typeof tools>;
let acme: Subscribed;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  acme = await subscribed(server.db.sql, { tenant: 'acme', at: Date.parse(start) });
});
afterAll(() => server.close());

const own = { tenant: 'acme' };
const post = (body: object, options: TestRequest = own) =>
  server.request('POST', '/billing/billing/meter/events', {
    ...options,
    body: { feature_key: 'calls', ...body },
  });
const event = async (body: object, options: TestRequest = own) => {
  const { status, body: accepted } = await post(body, options);
  expect([status, accepted]).toEqual([202, { id: accepted.id, status: 'buffered' }]);
  return await api.send('GET', `/billing/meter/events/${accepted.id}`, options);
};
const refused = async (body: object, options: TestRequest = own) => {
  const { status, body: answer } = await post(body, options);
  return [status, answer.error.code, answer.error.message];
};

describe('an event', () => {
  it('is counted in the period of its time when the answer is sent', async () => {
    expect(await event({ quantity: 2.5, metadata: { region: 'eu' }, idempotency_key: 'first' })).toEqual({
      ...{ id: expect.stringMatching(/^uevt_/), tenant_id: 'acme', app_id: 'default', feature_key: 'calls' },
      ...{ quantity: 2.5, idempotency_key: 'first', metadata: { region: 'eu' }, status: 'counted' },
      ...{ timestamp: shifted(0), accepted_at: shifted(0), subscription_id: acme.id },
      ...{ period_start: '2026-02-15T10:00:00.000Z', void_reason: null },
    });
    const sum = { quantity: '2.5', count: 1 };
    expect(await sumsOf(server.db.sql, 'acme')).toEqual({ events: sum, totals: sum, days: sum });
  });

  it('of a period that is over counts there', async () => {
    const late = await event({ timestamp: '2026-02-14T10:00:00+01:00' });
    expect(late).toMatchObject({
      ...{ status: 'counted', timestamp: '2026-02-14T09:00:00.000Z', period_start: start },
    });
  });

  it('a little ahead of the server happens now', async () => {
    expect(await event({ timestamp: shifted(5 * 60_000) })).toMatchObject({ timestamp: shifted(0) });
  });

  it.each([
    [{ timestamp: shifted(-35 * day - 1) }, 400, 'event_too_old', 'timestamp: older than 35 days'],
    [{ timestamp: shifted(5 * 60_000 + 1) }, 400, 'invalid_input', 'timestamp: more than 5 minutes ahead'],
    [{ quantity: -1 }, 403, 'forbidden', 'quantity: only the operator may send a negative one'],
    [{ quantity: 1e-13 }, 400, 'invalid_input', 'quantity: more than 12 decimals'],
    [{ quantity: 0.1 + 0.2 }, 400, 'invalid_input', 'quantity: more than 15 significant digits'],
    [{ tenant_id: 'globex' }, 403, 'forbidden', "tenant_id: not the caller's own"],
  ])('%j is refused', async (body, ...answer) => {
    expect(await refused(body)).toEqual(answer);
  });

  it('with more digits than a number of JSON keeps is refused, alone and in a batch', async () => {
    const sent = '{"feature_key":"calls","quantity":1.0000000000000000001}';
    const refusal = (path: string, body: string) =>
      api.refusal('POST', `/billing/meter/events${path}`, { ...own, body });
    const problem = 'quantity: more than 15 significant digits';
    expect(await refusal('', sent)).toEqual([400, 'invalid_input', problem]);
    expect(await refusal('/batch', `{"events":[${sent}]}`)).toEqual([
      ...[400, 'invalid_input', `events[0].${problem}`],
    ]);
  });

  it.each([
    ['quantity', 1e308],
    ['quantity', 2 ** 53],
    ['quantity', 1e12 + 1],
    ['quantity', '1'],
    ['feature_key', 'a b'],
    ['feature_key', "x'; drop table billing.usage_event"],
    ['feature_key', '\u0000'],
    ['idempotency_key', ''],
    ['idempotency_key', 'x'.repeat(256)],
    ['idempotency_key', 'a\u0000b'],
    ['timestamp', 'yesterday'],
    ['timestamp', '2026-02-30T00:00:00Z'],
    ['metadata', []],
    ['metadata', { ['k'.repeat(65)]: 1 }],
    ['metadata', { '': 1 }],
    ['metadata', { a: { b: { c: { d: { e: {} } } } } }],
    ['metadata', { a: 'x'.repeat(8_192) }],
    ['metadata', { a: '\u0000' }],
    ['unknown', 1],
  ])('with the %s %j is a 400 that names it', async (field, value) => {
    const { status, body } = await post({ [field]: value });
    expect([status, body.error.code]).toEqual([400, 'invalid_input']);
    expect(body.error.message.startsWith(field)).toBe(true);
  });

  it('keeps every decimal', async () => {
    const tenant = { tenant: 'decimal' };
    await subscribed(server.db.sql, { tenant: 'decimal', at: Date.parse(start) });
    for (const quantity of [1e12, 1e-12, 1.5, 0])
      expect((await event({ quantity }, tenant)).quantity).toBe(quantity);
    const sum = { quantity: '1000000000001.500000000001', count: 4 };
    expect(await sumsOf(server.db.sql, 'decimal')).toEqual({ events: sum, totals: sum, days: sum });
  });

  it('of the operator may belong to any tenant, and may be a correction', async () => {
    expect(await event({ quantity: -1, tenant_id: 'acme' }, {})).toMatchObject({
      ...{ tenant_id: 'acme', quantity: -1, subscription_id: acme.id },
    });
    expect(await event({}, {})).toMatchObject({ tenant_id: 'default', status: 'buffered' });
  });
});

describe('a key', () => {
  it('stands for the first event with it, which a repeat is compared with', async () => {
    const body = {
      quantity: 3,
      idempotency_key: 'once',
      metadata: { a: 1, b: [2] },
      timestamp: shifted(-1_000),
    };
    const { id } = await event(body);
    const repeats = [
      [body, true],
      [{ ...body, metadata: { b: [2], a: 1 } }, true],
      [{ ...body, quantity: 4 }, false],
      [{ ...body, feature_key: 'seats' }, false],
      [{ ...body, metadata: {} }, false],
      [{ ...body, timestamp: shifted(-1_001) }, false],
      [{ ...body, timestamp: undefined }, false],
    ] as const;
    for (const [repeat, identical] of repeats)
      expect(await post(repeat)).toMatchObject({
        status: 409,
        body: { error: { code: 'duplicate_event', type: 'conflict', details: { event_id: id, identical } } },
      });
  });

  it('belongs to its tenant and app', async () => {
    const body = { idempotency_key: 'shared' };
    const { id } = await event(body);
    for (const options of [{ tenant: 'globex' }, { ...own, headers: { 'X-App-ID': 'other' } }])
      expect((await event(body, options)).id).not.toBe(id);
    expect((await post(body)).status).toBe(409);
  });

  it('that 500 requests send at once is one event', { timeout: 120_000 }, async () => {
    await subscribed(server.db.sql, { tenant: 'race', at: Date.parse(start) });
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => post({ idempotency_key: 'one', quantity: 2 }, { tenant: 'race' })),
    );
    const [first, ...others] = answers.filter(({ status }) => status === 202);
    expect([others.length, answers.filter(({ status }) => status === 409).length]).toEqual([0, 499]);
    for (const { status, body } of answers)
      if (status === 409) expect(body.error.details).toEqual({ event_id: first!.body.id, identical: true });
    const sum = { quantity: '2', count: 1 };
    expect(await sumsOf(server.db.sql, 'race')).toEqual({ events: sum, totals: sum, days: sum });
  });
});

describe('without a segment that covers its time, an event is kept and not counted:', () => {
  it('of a tenant without a subscription', async () => {
    expect(await event({}, { tenant: 'nobody' })).toMatchObject({
      ...{ status: 'buffered', subscription_id: null, period_start: null },
    });
  });

  it('before the subscription, after its end, and while it is paused', async () => {
    const at = clock.now() - 10 * day;
    const one = await subscribed(server.db.sql, { tenant: 'gaps', at });
    const pausedAt = new Date(at + day);
    await server.db.sql`
      update billing.segment set kind = 'paused', ends_at = ${new Date(at + 2 * day)}
      where tenant_id = 'gaps' and starts_at = ${new Date(at)}`;
    for (const timestamp of [new Date(at - 1), pausedAt, new Date(at + 3 * day)])
      expect(await event({ timestamp: timestamp.toISOString() }, { tenant: 'gaps' })).toMatchObject({
        status: 'buffered',
      });
    await server.db.sql`update billing.segment set kind = 'paid' where tenant_id = 'gaps'`;
    expect(await event({ timestamp: pausedAt.toISOString() }, { tenant: 'gaps' })).toMatchObject({
      ...{ status: 'counted', subscription_id: one.id },
    });
    // The end of a segment does not belong to it, the start does.
    for (const [ms, status] of [
      [2 * day, 'buffered'],
      [2 * day - 1, 'counted'],
      [0, 'counted'],
    ] as const)
      expect((await event({ timestamp: new Date(at + ms).toISOString() }, { tenant: 'gaps' })).status).toBe(
        status,
      );
  });
});
