import { Webhook } from 'standardwebhooks';
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
