/** Usage that is sent again with the `Idempotency-Key` of its request. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const clock = new TestClock('2026-02-15T11:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

const post = (path: string, tenant: string, key: string, body: object) =>
  server.request('POST', `/billing/billing/meter/${path}`, {
    ...{ tenant, body, headers: { 'Idempotency-Key': key } },
  });
const storedFor = async (tenant: string): Promise<number> =>
  (await api.send('GET', '/billing/meter/events?limit=100', { tenant })).pagination.total;

describe('an event', () => {
  it('counts once, and the repetition gets the first answer', async () => {
    const event = { feature_key: 'api_calls', quantity: 7 };
    const first = await post('events', 'single', 'k-1', event);
    clock.turn(1_000);
    const second = await post('events', 'single', 'k-1', event);
    expect([second.status, second.body]).toEqual([202, first.body]);
    const other = await post('events', 'single', 'k-1', { ...event, quantity: 8 });
    expect([other.status, other.body.error.code]).toEqual([409, 'duplicate_event']);
    expect(await storedFor('single')).toBe(1);
  });

  it('of another credential with the same key is another one', async () => {
    const event = { feature_key: 'api_calls' };
    for (const user of ['user_ann', 'user_bob']) {
      const { status } = await server.request('POST', '/billing/billing/meter/events', {
        ...{ tenant: 'people', body: event },
        headers: { 'Idempotency-Key': 'k-1', 'X-User-ID': user },
      });
      expect(status).toBe(202);
    }
    expect(await storedFor('people')).toBe(2);
  });

  it('with a key of its own is known by that', async () => {
    const event = { feature_key: 'api_calls', idempotency_key: 'own' };
    expect((await post('events', 'own', 'k-1', event)).status).toBe(202);
    expect((await post('events', 'own', 'k-2', event)).status).toBe(409);
    expect(await storedFor('own')).toBe(1);
  });

  it('needs a key of visible characters', async () => {
    for (const key of ['with blank', 'x'.repeat(256)])
      expect((await post('events', 'own', key, { feature_key: 'api_calls' })).status).toBe(400);
  });
});

describe('a batch', () => {
  const events = [
    { feature_key: 'api_calls', quantity: 7 },
    { feature_key: 'api_calls', quantity: 7 },
    { feature_key: 'api_calls', idempotency_key: 'own' },
  ];

  it('counts once, and the repetition gets the first answer, but for events with keys of their own', async () => {
    const first = await post('events/batch', 'batch', 'k-1', { events });
    expect(first.body).toMatchObject({ accepted: 3, duplicates: 0 });
    clock.turn(1_000);
    const second = await post('events/batch', 'batch', 'k-1', { events });
    expect(second.status).toBe(202);
    const [one, two, own] = first.body.results;
    expect(second.body.results).toEqual([one, two, { ...own, status: 'duplicate', identical: true }]);
    expect(await storedFor('batch')).toBe(3);
  });

  it('with another body under its key is told what differs', async () => {
    await post('events/batch', 'differs', 'k-1', { events });
    const changed = [{ ...events[0], quantity: 8 }, ...events.slice(1)];
    const { body } = await post('events/batch', 'differs', 'k-1', { events: changed });
    expect(body.results[0]).toMatchObject({ status: 'duplicate', identical: false });
    expect(await storedFor('differs')).toBe(3);
  });

  it('with another key counts again', async () => {
    for (const key of ['k-1', 'k-2'])
      await post('events/batch', 'twice', key, { events: events.slice(0, 2) });
    expect(await storedFor('twice')).toBe(4);
  });
});
