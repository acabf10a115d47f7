import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.ts';
import { dispatching } from './testing/dispatching.ts';
import { testSecret } from './testing/records.store.ts';

const one = dispatching();

describe('a delivery', () => {
  it('reaches its endpoint, signed', async () => {
    const dispatcher = await one.start();
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    const [id] = await one.make.deliveries(endpoint, 1);
    dispatcher.hint([endpoint]);
    await one.settled({ delivered: 1 });
    const { headers, body } = one.receiver.received[0]!;
    expect(new Webhook(testSecret).verify(body, headers)).toMatchObject({
      type: 'invoice.paid',
      data: { nth: 1 },
    });
    expect(headers).toMatchObject({ 'plinth-delivery-id': id, 'plinth-attempt': '1' });
    const attempts = await one.db
      .sql`select attempt, outcome, status_code, error, response, url from webhooks.attempt`;
    expect(attempts).toEqual([
      {
        attempt: 1,
        outcome: 'delivered',
        status_code: 200,
        error: null,
        response: '',
        url: one.receiver.url,
      },
    ]);
  });

  it('is found without a hint', async () => {
    await one.start();
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(endpoint, 3);
    await one.settled({ delivered: 3 });
  });

  it('is one of many', async () => {
    const dispatcher = await one.start();
    const { url } = one.receiver;
    const endpoints = await Promise.all(Array.from({ length: 20 }, () => one.make.endpoint({ url })));
    for (const endpoint of endpoints) await one.make.deliveries(endpoint, 50);
    dispatcher.hint(endpoints);
    await one.settled({ delivered: 1_000 });
    expect(one.receiver.received).toHaveLength(1_000);
    const lanes = await one.db
      .sql`select distinct window_size, consecutive_failures, breaker from webhooks.lane`;
    expect(lanes).toEqual([{ window_size: 20, consecutive_failures: 0, breaker: 'closed' }]);
  });

  it('of a disabled endpoint is held, unless it is a test', async () => {
    const dispatcher = await one.start();
    const endpoint = await one.make.endpoint({ url: one.receiver.url, enabled: false });
    const [test] = await one.make.deliveries(endpoint, 2);
    await one.db.sql`update webhooks.delivery set test = true where id = ${test!}`;
    dispatcher.hint([endpoint]);
    await one.settled({ delivered: 1, pending: 1 });
    await one.db.sql`update webhooks.endpoint set enabled = true, disabled_reason = null`;
    await one.settled({ delivered: 2 });
  });

  it('never has more company at its endpoint than that allows', async () => {
    let [open, most] = [0, 0];
    one.receiver.answer((_, response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(204).end();
      }, 50);
    });
    const dispatcher = await one.start();
    const endpoint = await one.make.endpoint({ url: one.receiver.url, max_concurrency: 3 });
    await one.make.deliveries(endpoint, 40);
    dispatcher.hint([endpoint]);
    await one.settled({ delivered: 40 });
    expect(most).toBe(3);
  });
});

it('a stopped dispatcher leaves nothing in flight', async () => {
  const dispatcher = await one.start();
  const endpoint = await one.make.endpoint({ url: one.receiver.url });
  await one.make.deliveries(endpoint, 30);
  dispatcher.hint([endpoint]);
  await until(() => one.receiver.received.length > 0);
  await dispatcher.stop();
  expect((await one.make.states())['delivering']).toBeUndefined();
});

describe('in an ordered endpoint', () => {
  it('the deliveries of a key follow each other, and other keys do not wait', async () => {
    const dispatcher = await one.start();
    const endpoint = await one.make.endpoint({ url: one.receiver.url, ordered: true });
    const failing = await one.make.deliveries(endpoint, 3, { order_key: 'a' });
    one.receiver.answer(({ headers }) => (headers['plinth-delivery-id'] === failing[0] ? 503 : 200));
    await one.make.deliveries(endpoint, 20, { order_key: 'b' });
    await one.make.deliveries(endpoint, 5);
    dispatcher.hint([endpoint]);
    await one.settled({ delivered: 25, pending: 3 });
    const ofB = one.receiver.received.map(
      ({ body }) => JSON.parse(body) as { data: { key?: string; nth: number } },
    );
    const numbers = ofB.filter(({ data }) => data.key === 'b').map(({ data }) => data.nth);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    one.receiver.answer(() => 200);
    await one.make.makeDue();
    await one.settled({ delivered: 28 });
    const ofA = one.receiver.received
      .filter(({ headers }) => failing.includes(headers['plinth-delivery-id']!))
      .map(({ headers }) => headers['plinth-delivery-id']);
    expect(ofA).toEqual([failing[0], ...failing]);
  });

  it('many keys are delivered at once', async () => {
    const dispatcher = await one.start();
    const endpoint = await one.make.endpoint({ url: one.receiver.url, ordered: true });
    for (let key = 0; key < 40; key++) await one.make.deliveries(endpoint, 3, { order_key: `key-${key}` });
    dispatcher.hint([endpoint]);
    await one.settled({ delivered: 120 });
  });
});
