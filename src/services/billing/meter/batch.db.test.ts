import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestRequest, TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { subscribed, sumsOf } from './testing.ts';

const start = Date.parse('2026-02-20T10:00:00.000Z');
const clock = new TestClock('2026-03-01T12:00:00.000Z');
const old = new Date(clock.now() - 36 * 86_400_000).toISOString();

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

const post = (events: readonly object[], options: TestRequest) =>
  server.request('POST', '/billing/billing/meter/events/batch', {
    ...options,
    body: { events: events.map((event) => ({ feature_key: 'calls', ...event })) },
  });
const buffered = {
  id: expect.stringMatching(/^uevt_/) as string,
  status: 'buffered',
  identical: null,
  error: null,
};
const total = async (options: TestRequest) =>
  (await api.send('GET', '/billing/meter/events?limit=1', options)).pagination.total as number;

describe('a batch', () => {
  it('is stored and counted when the answer is sent', async () => {
    await subscribed(server.db.sql, { tenant: 'whole', at: start });
    const events = Array.from({ length: 1_000 }, (_, at) => ({ quantity: at, idempotency_key: `k${at}` }));
    const { status, body } = await post(events, { tenant: 'whole' });
    expect([status, body.accepted, body.rejected, body.duplicates]).toEqual([202, 1_000, 0, 0]);
    expect(new Set(body.results.map(({ id }: { id: string }) => id)).size).toBe(1_000);
    const sum = { quantity: '499500', count: 1_000 };
    expect(await sumsOf(server.db.sql, 'whole')).toEqual({ events: sum, totals: sum, days: sum });
    const [last] = (await api.send('GET', '/billing/meter/events?limit=1', { tenant: 'whole' })).data;
    expect(last.status).toBe('counted');
  });

  it('says of each event what became of it, in its order', async () => {
    const own = { tenant: 'mixed' };
    await subscribed(server.db.sql, { tenant: 'mixed', at: start });
    const [earlier] = (await post([{ idempotency_key: 'earlier' }], own)).body.results;
    const { status, body } = await post(
      [
        { idempotency_key: 'a' },
        { idempotency_key: 'earlier' },
        { idempotency_key: 'b', timestamp: old },
        { idempotency_key: 'a', quantity: 5 },
        {},
        { idempotency_key: 'earlier', quantity: 7 },
        { idempotency_key: 'a', quantity: 1 },
        { quantity: -1 },
        { idempotency_key: 'b' },
        {},
      ],
      own,
    );
    const refusal = (code: string, message: string) => ({
      id: null,
      status: 'rejected',
      identical: null,
      error: { code, message },
    });
    const duplicate = (id: string, identical: boolean) => ({
      id,
      status: 'duplicate',
      identical,
      error: null,
    });
    expect(status).toBe(202);
    expect(body).toEqual({
      accepted: 4,
      rejected: 6,
      duplicates: 4,
      results: [
        buffered,
        duplicate(earlier.id, true),
        refusal('event_too_old', 'timestamp: older than 35 days'),
        duplicate(body.results[0].id, false),
        buffered,
        duplicate(earlier.id, false),
        duplicate(body.results[0].id, true),
        refusal('forbidden', 'quantity: only the operator may send a negative one'),
        buffered,
        buffered,
      ],
    });
    const sum = { quantity: '5', count: 5 };
    expect(await sumsOf(server.db.sql, 'mixed')).toEqual({ events: sum, totals: sum, days: sum });
  });

  it('stores of each key the first event', async () => {
    const own = { tenant: 'firsts' };
    const keys = Array.from({ length: 50 }, (_, at) => `k${at}`);
    const { body } = await post(
      [1, 2].flatMap((quantity) => keys.map((idempotency_key) => ({ idempotency_key, quantity }))),
      own,
    );
    expect(body).toMatchObject({ accepted: 50, rejected: 50, duplicates: 50 });
    expect(body.results.slice(0, 50)).toEqual(keys.map(() => buffered));
    const { data } = await api.send('GET', '/billing/meter/events?limit=100', own);
    expect(data.map(({ quantity }: { quantity: number }) => quantity)).toEqual(keys.map(() => 1));
  });

  it('of which nothing can be stored is still answered', async () => {
    const { body } = await post([{ timestamp: old }], { tenant: 'nothing' });
    expect(body).toMatchObject({ accepted: 0, rejected: 1, duplicates: 0 });
  });

  it.each([
    ['quantity', { quantity: 1e308 }, 'events[3].quantity'],
    ['key of a feature', { feature_key: '' }, 'events[3].feature_key'],
    ['metadata', { metadata: { a: 'x'.repeat(8_192) } }, 'events[3].metadata'],
    ['name', { color: 'red' }, 'events[3].color'],
  ])('with a malformed %s is refused as a whole', async (_, malformed, place) => {
    const own = { tenant: 'malformed' };
    const { status, body } = await post([{}, {}, {}, malformed], own);
    expect([status, body.error.code]).toEqual([400, 'invalid_input']);
    expect(body.error.message.startsWith(`${place}: `)).toBe(true);
    expect(await total(own)).toBe(0);
  });

  it.each([[[]], [Array.from({ length: 1_001 }, () => ({}))]])('has 1 to 1000 events', async (events) => {
    expect((await post(events, { tenant: 'size' })).status).toBe(400);
  });

  it('of more than 4 MiB is too large', async () => {
    const padding = { metadata: { a: 'x'.repeat(5_000) } };
    expect(
      (
        await post(
          Array.from({ length: 900 }, () => padding),
          { tenant: 'size' },
        )
      ).status,
    ).toBe(413);
  });
});

describe('the tenant of an event of a batch', () => {
  it("is the caller's own", async () => {
    const own = { tenant: 'acme' };
    expect(await post([{}, { tenant_id: 'acme' }], own)).toMatchObject({
      status: 202,
      body: { accepted: 2 },
    });
    const { status, body } = await post([{}, { tenant_id: 'globex' }], own);
    expect([status, body.error.code, body.error.message]).toEqual([
      403,
      'forbidden',
      "events[1].tenant_id: not the caller's own",
    ]);
    expect(await total(own)).toBe(2);
  });

  it('counts when the operator names it, and keys belong to it', async () => {
    const events = ['one', 'two', undefined].map((tenant_id) => ({ tenant_id, idempotency_key: 'same' }));
    expect(await post(events, {})).toMatchObject({ status: 202, body: { accepted: 3, duplicates: 0 } });
    expect(await Promise.all(['one', 'two', 'default'].map((tenant) => total({ tenant })))).toEqual([
      1, 1, 1,
    ]);
  });
});

it('the largest batch is taken whatever its metadata is', async () => {
  const own = { tenant: 'large' };
  await subscribed(server.db.sql, { tenant: 'large', at: start });
  const metadata = {
    quotes: '"\\'.repeat(950),
    many: Array.from({ length: 30 }, (_, at) => ({ [`ä${at}`]: null })),
  };
  const events = Array.from({ length: 800 }, (_, at) => ({ metadata, idempotency_key: `k${at}` }));
  expect(await post(events, own)).toMatchObject({ status: 202, body: { accepted: 800 } });
  const [one] = (await api.send('GET', '/billing/meter/events?limit=1', own)).data;
  expect(one.metadata).toEqual(metadata);
});
