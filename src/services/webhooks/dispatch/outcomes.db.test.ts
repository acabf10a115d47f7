import { describe, expect, it } from 'vitest';
import { dispatching } from './testing/dispatching.ts';
import type { Answer } from './testing/receiver.ts';

const one = dispatching();

/** One delivery, attempted once. */
async function attempted(answer: Answer, more: { max_attempts?: number; timeout_ms?: number } = {}) {
  one.receiver.answer(answer);
  const endpoint = await one.make.endpoint({ url: one.receiver.url, ...more });
  const [id] = await one.make.deliveries(endpoint, 1);
  const dispatcher = await one.start();
  dispatcher.hint([endpoint]);
  await expect.poll(async () => (await one.make.delivery(id!))['attempt_count']).toBe(1);
  return { endpoint, delivery: await one.make.delivery(id!), id: id! };
}

const events = () =>
  one.db.sql<{ type: string; subject: string; data: Record<string, unknown> }[]>`
    select type, subject, data from webhooks.outbox order by id`;

describe('a delivery that fails', () => {
  it('waits for its next attempt', async () => {
    const { delivery, id } = await attempted(() => ({ status: 503, body: 'upstream unavailable' }));
    expect(delivery).toEqual({
      state: 'pending',
      attempt_count: 1,
      last_status_code: 503,
      last_error: 'http 503',
      last_response: 'upstream unavailable',
    });
    const [row] = await one.db.sql<[{ wait: number }]>`
      select extract(epoch from next_attempt_at - now())::float8 as wait from webhooks.delivery where id = ${id}`;
    expect(row.wait).toBeGreaterThan(2);
    expect(row.wait).toBeLessThan(6.1);
  });

  it('for good leaves a dead letter and an event', async () => {
    const { delivery, endpoint, id } = await attempted(() => ({ status: 500 }), { max_attempts: 1 });
    expect(delivery).toMatchObject({ state: 'failed', last_error: 'http 500' });
    const [letter] = await one.db.sql`select * from webhooks.dlq`;
    expect(letter).toMatchObject({
      delivery_id: id,
      endpoint_id: endpoint,
      url: one.receiver.url,
      payload: { nth: 1, key: null },
      error: 'http 500',
      attempt_count: 1,
      last_status_code: 500,
    });
    const [event] = await events();
    expect(event).toMatchObject({
      type: 'webhooks.delivery.failed',
      subject: endpoint,
      data: { id: letter!['id'] as string, delivery_id: id, error: 'http 500' },
    });
    expect(event!.data).not.toHaveProperty('payload');
  });

  it('with a 410 disables its endpoint', async () => {
    const { endpoint, delivery } = await attempted(() => 410);
    expect(delivery).toMatchObject({ state: 'failed', last_error: 'http 410' });
    const [row] = await one.db
      .sql`select enabled, disabled_reason from webhooks.endpoint where id = ${endpoint}`;
    expect(row).toEqual({ enabled: false, disabled_reason: 'gone' });
    expect((await events()).map(({ type }) => type)).toEqual([
      'webhooks.delivery.failed',
      'webhooks.endpoint.disabled',
    ]);
    const disabled = (await events())[1]!;
    expect(disabled.data).toMatchObject({
      id: endpoint,
      enabled: false,
      disabled_reason: 'gone',
      timeout: '15s',
    });
    expect(disabled.data).not.toHaveProperty('headers');
  });

  it('for long enough disables its endpoint', async () => {
    await one.make.deliveries(await one.make.endpoint({ url: one.receiver.url }), 1);
    one.receiver.answer(() => 500);
    await one.start({ env: { PLINTH_WEBHOOKS_DISABLE_AFTER: '1h' } });
    await expect.poll(async () => (await one.db.sql`select from webhooks.attempt`).length).toBe(1);
    await one.db.sql`update webhooks.lane set failing_since = now() - interval '61 minutes'`;
    await one.make.makeDue();
    await expect
      .poll(() => one.db.sql`select disabled_reason from webhooks.endpoint`)
      .toEqual([{ disabled_reason: 'failing' }]);
  });

  it('as a test leaves nothing behind', async () => {
    one.receiver.answer(() => 500);
    const endpoint = await one.make.endpoint({ url: one.receiver.url, max_attempts: 1 });
    await one.make.deliveries(endpoint, 1);
    await one.db.sql`update webhooks.delivery set test = true`;
    await one.start();
    await one.settled({ failed: 1 });
    expect(await one.db.sql`select from webhooks.dlq`).toHaveLength(0);
    expect(await events()).toEqual([]);
  });

  it('and tells of events of this service causes no event', async () => {
    one.receiver.answer(() => 410);
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(endpoint, 1, { type: 'webhooks.delivery.failed' });
    await one.start();
    await one.settled({ failed: 1 });
    expect(await events()).toEqual([]);
    expect(await one.db.sql`select from webhooks.dlq`).toHaveLength(1);
  });

  it('with a 4xx is attempted four times', async () => {
    one.receiver.answer(() => 404);
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    const [id] = await one.make.deliveries(endpoint, 1);
    await one.start();
    for (let attempts = 1; attempts <= 4; attempts++) {
      await expect.poll(async () => (await one.make.delivery(id!))['attempt_count']).toBe(attempts);
      await one.make.makeDue();
    }
    expect(await one.make.delivery(id!)).toMatchObject({ state: 'failed', last_error: 'http 404' });
    expect(await one.db.sql`select attempt, outcome from webhooks.attempt order by attempt`).toEqual([
      { attempt: 1, outcome: 'retry' },
      { attempt: 2, outcome: 'retry' },
      { attempt: 3, outcome: 'retry' },
      { attempt: 4, outcome: 'failed' },
    ]);
    expect(await one.make.lane(endpoint)).toMatchObject({ consecutive_failures: 0, breaker: 'closed' });
  });
});

describe('an answer', () => {
  it.each<[string, Answer, object]>([
    [
      'with bytes that are no text',
      () => ({ status: 200, body: Buffer.from([0x61, 0, 0xff, 0x62]) }),
      { state: 'delivered', last_response: 'a�b' },
    ],
    [
      'that is too long',
      () => ({ status: 200, body: 'x'.repeat(3_000_000) }),
      { state: 'delivered', last_response: 'x'.repeat(1_024) },
    ],
    [
      'that never ends',
      (_, response) => void response.writeHead(200).write('begun'),
      { state: 'delivered', last_response: 'begun' },
    ],
    [
      'that is cut off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy());
      },
      { state: 'delivered', last_response: 'half' },
    ],
    [
      'with endless headers',
      (_, response) => {
        response.writeHead(200, { 'x-long': 'x'.repeat(30_000) }).end();
      },
      { state: 'pending', last_error: 'invalid response' },
    ],
    [
      'that is a redirect',
      () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/elsewhere' } }),
      { state: 'pending', last_error: 'http 302' },
    ],
    [
      'that is a reset',
      (_, response) => void response.socket?.resetAndDestroy(),
      { state: 'pending', last_error: 'connection reset', last_status_code: null },
    ],
    ['that does not come', () => {}, { state: 'pending', last_error: 'timeout', last_status_code: null }],
  ])('%s', async (_, answer, expected) => {
    const { delivery } = await attempted(answer, { timeout_ms: 1_000 });
    expect(delivery).toMatchObject(expected);
  });
});

it('a receiver that is not there is a refused connection', async () => {
  const endpoint = await one.make.endpoint({ url: one.receiver.url });
  const [id] = await one.make.deliveries(endpoint, 1);
  await one.receiver.close();
  await one.start();
  await expect
    .poll(() => one.make.delivery(id!))
    .toMatchObject({ attempt_count: 1, last_error: 'connection refused' });
});

it('an address that is not allowed is the end of it', async () => {
  const endpoint = await one.make.endpoint({ url: one.receiver.url });
  const [id] = await one.make.deliveries(endpoint, 1);
  await one.start({ deps: { allowPrivateTargets: false } });
  await expect
    .poll(() => one.make.delivery(id!))
    .toMatchObject({ state: 'failed', last_error: 'address not allowed' });
  expect(one.receiver.received).toEqual([]);
});

it('a secret that cannot be read is the end of it', async () => {
  const endpoint = await one.make.endpoint({ url: one.receiver.url });
  const [id] = await one.make.deliveries(endpoint, 1);
  await one.db.sql`update webhooks.endpoint_secret set box = '\\x0102'`;
  await one.start();
  await expect
    .poll(() => one.make.delivery(id!))
    .toMatchObject({ state: 'failed', last_error: 'secret unreadable' });
});
