import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { IssuedEndpoint } from '../../../../generated/webhooks/types.ts';
import { delivering } from '../deliveries/testing.ts';
import type { Received } from '../dispatch/testing/receiver.ts';

const world = delivering();

let tenants = 0;
/** An endpoint of a tenant of its own: every other endpoint of the tenant would get its events, too. */
const alone = (body: object = {}): Promise<IssuedEndpoint> =>
  world.endpoint({ tenant_id: `tenant-${tenants++}`, event_types: ['invoice.*'], ...body });

/** Sends an event and returns the request that brings it to the endpoint. */
async function request(endpoint: IssuedEndpoint): Promise<Received> {
  const { id } = await world.delivered(endpoint, { data: { amount: 4900 } }, 'delivered');
  return world.receiver.received.find(({ headers }) => headers['plinth-delivery-id'] === id)!;
}

const verifies = (secret: string, { headers, body }: Received): boolean => {
  try {
    new Verifier(secret).verify(body, { ...headers });
    return true;
  } catch {
    return false;
  }
};

describe('the secrets of an endpoint', () => {
  const rotate = async (endpoint: IssuedEndpoint, body?: object): Promise<string> => {
    const path = `/endpoints/${endpoint.id}/rotate-secret`;
    return (await world.tools.send('POST', path, { body })).secret as string;
  };

  it('both verify during the overlap, and after it only the new one does', async () => {
    const endpoint = await alone();
    const next = await rotate(endpoint, { overlap: '1h' });
    const during = await request(endpoint);
    expect([verifies(next, during), verifies(endpoint.secret, during)]).toEqual([true, true]);
    await world.server.db.sql`
      update webhooks.endpoint_secret set valid_until = now() - interval '1 second'
      where endpoint_id = ${endpoint.id} and valid_until is not null`;
    const after = await request(endpoint);
    expect([verifies(next, after), verifies(endpoint.secret, after)]).toEqual([true, false]);
  });

  it('of five rotations the first no longer signs, and an overlap of 0 ends all others', async () => {
    const endpoint = await alone();
    const secrets = [endpoint.secret];
    for (let round = 0; round < 5; round++) secrets.push(await rotate(endpoint));
    const signed = await request(endpoint);
    expect(secrets.map((secret) => verifies(secret, signed))).toEqual([false, true, true, true, true, true]);
    const final = await rotate(endpoint, { overlap: '0s' });
    const last = await request(endpoint);
    expect([...secrets, final].map((secret) => verifies(secret, last))).toEqual([
      ...Array<boolean>(6).fill(false),
      true,
    ]);
  });
});

it('secret headers reach the receiver as they were given', async () => {
  const headers = { Authorization: 'Bearer s3cr3t', 'x-region': 'eu' };
  const endpoint = await alone({ headers });
  expect((await request(endpoint)).headers).toMatchObject({
    authorization: 'Bearer s3cr3t',
    'x-region': 'eu',
  });
});

it('a disabled endpoint holds what waits for it, and enabling sends it, to the new URL', async () => {
  world.receiver.answer(() => 503);
  const endpoint = await alone();
  const { id } = await world.delivered(endpoint, {}, 'pending');
  const get = () => world.tools.send('GET', `/deliveries/${id}`);
  await expect.poll(get).toMatchObject({ attempt_count: 1, state: 'pending' });
  await world.tools.send('PATCH', `/endpoints/${endpoint.id}/disable`);
  await world.tools.send('POST', `/deliveries/${id}/retry`);
  world.receiver.answer(() => 200);
  const body = { url: `${world.receiver.url}/new`, enabled: true };
  expect(await get()).toMatchObject({ attempt_count: 1, state: 'pending' });
  await world.tools.send('PUT', `/endpoints/${endpoint.id}`, { body });
  await expect.poll(get).toMatchObject({ state: 'delivered', attempt_count: 2 });
  expect(world.receiver.received.at(-1)!.path).toBe('/hooks/new');
});

it('a test event reaches a disabled endpoint', async () => {
  const endpoint = await alone({ enabled: false });
  const { id, event_id } = await world.tools.send('POST', `/endpoints/${endpoint.id}/test`, {
    body: { data: { hello: 'world' } },
  });
  await expect
    .poll(() => world.tools.send('GET', `/deliveries/${id as string}`))
    .toMatchObject({ state: 'delivered', attempt_count: 1 });
  const sent = world.receiver.received.find(({ headers }) => headers['webhook-id'] === event_id)!;
  expect(JSON.parse(sent.body)).toMatchObject({ type: 'webhook.test', data: { hello: 'world' } });
  expect(verifies(endpoint.secret, sent)).toBe(true);
});
