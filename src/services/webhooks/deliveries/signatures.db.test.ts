import { Webhook } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { expect, it } from 'vitest';
import type { Received } from '../dispatch/testing/receiver.ts';
import { delivering } from './testing.ts';

const one = delivering();
const as = { tenant: 'signed' };

const verifies = (secret: string, { body, headers }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
};

it.each(['standard', 'data'])(
  'the libraries of two others verify the format %s, and nothing that was changed',
  async (payload_format) => {
    const endpoint = await one.endpoint({ payload_format }, { tenant: `verified-${payload_format}` });
    const { id } = await one.delivered(endpoint, {}, 'delivered');
    const { body, headers } = one.receiver.received.find(
      (request) => request.headers['plinth-delivery-id'] === id,
    )!;
    const sent = { ...headers };
    const changed = [
      { body: `${body} `, headers: sent },
      { body, headers: { ...sent, 'webhook-id': 'evt_other' } },
      { body, headers: { ...sent, 'webhook-timestamp': String(Number(sent['webhook-timestamp']) - 1) } },
      { body, headers: { ...sent, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` } },
    ];
    for (const Library of [Webhook, Svix]) {
      const library = new Library(endpoint.secret);
      expect(() => library.verify(body, sent)).not.toThrow();
      for (const one of changed) expect(() => library.verify(one.body, one.headers)).toThrow();
    }
  },
);

it('during an overlap both secrets sign, and without one only the new one', async () => {
  const endpoint = await one.endpoint({}, as);
  const sent = async () => {
    const { id } = await one.delivered(endpoint, {}, 'delivered');
    return one.receiver.received.find(({ headers }) => headers['plinth-delivery-id'] === id)!;
  };
  const rotate = async (overlap: string): Promise<string> =>
    (
      (await one.tools.send('POST', `/endpoints/${endpoint.id}/rotate-secret`, {
        ...as,
        body: { overlap },
      })) as { secret: string }
    ).secret;
  expect(verifies(endpoint.secret, await sent())).toBe(true);

  const second = await rotate('1h');
  const both = await sent();
  expect([endpoint.secret, second].map((secret) => verifies(secret, both))).toEqual([true, true]);
  // The new one comes first.
  expect(both.headers['webhook-signature']!.split(' ')).toHaveLength(2);

  const third = await rotate('0s');
  const only = await sent();
  expect([endpoint.secret, second, third].map((secret) => verifies(secret, only))).toEqual([
    false,
    false,
    true,
  ]);
});

it('what is sent is the data that were accepted, with the headers of the endpoint', async () => {
  const endpoint = await one.endpoint(
    { payload_format: 'data', headers: { 'X-Region': 'eu', Authorization: 'Bearer of-the-receiver' } },
    as,
  );
  await one.tools.send('POST', '/events', {
    ...as,
    body: '{"type":"invoice.paid","data":{"b":1.0,"a":"é","10":1,"2":[ ]}}',
  });
  const found = () => one.receiver.received.find(({ headers }) => headers['x-region'] === 'eu');
  await expect.poll(found).toBeDefined();
  expect(found()!.headers['authorization']).toBe('Bearer of-the-receiver');
  expect(found()!.headers['content-type']).toBe('application/json');
  expect(JSON.parse(found()!.body)).toEqual({ b: 1, a: 'é', '10': 1, '2': [] });
  expect(verifies(endpoint.secret, found()!)).toBe(true);
});
