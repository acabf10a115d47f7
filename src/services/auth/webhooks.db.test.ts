import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Delivery, IssuedWebhook, Webhook } from '../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const receivers: Server[] = [];

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = tools(server);
});
afterAll(() => server.close());
afterEach(async () => {
  for (const receiver of receivers.splice(0)) {
    receiver.closeAllConnections();
    receiver.close();
  }
  await server.db.sql`delete from auth.webhooks`;
});

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver on a socket of its own, which answers these statuses one after the other, and the last one from then on. */
async function receiver(...statuses: number[]) {
  const received: Received[] = [];
  const listening = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      received.push({ headers: req.headers, body });
      const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200;
      res.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/' } : {}).end('thanks');
    });
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  receivers.push(listening);
  return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/hooks`, received };
}

const create = (body: object): Promise<IssuedWebhook> => api.send('POST', '/webhooks', { body });
const test = ({ id }: Pick<Webhook, 'id'>): Promise<Delivery> => api.send('POST', `/webhooks/${id}/test`);
const get = (id: string): Promise<Webhook> => api.send('GET', `/webhooks/${id}`);

/** The newest delivery, once `done` says that it is as far as the test wants. */
async function delivery(webhook: Pick<Webhook, 'id'>, done: (found: Delivery) => boolean): Promise<Delivery> {
  return vi.waitFor(
    async () => {
      const { deliveries } = await api.send('GET', `/webhooks/${webhook.id}/deliveries`);
      const [newest] = deliveries as Delivery[];
      if (!newest || !done(newest)) throw new Error(`not yet: ${JSON.stringify(newest)}`);
      return newest;
    },
    { timeout: 20_000, interval: 20 },
  );
}

/** Makes what waits due now. */
const hurry = () => server.db.sql`
  update auth.deliveries set next_attempt_at = now() - interval '1 second' where state = 'pending'`;

describe('a webhook', () => {
  it('shows its secret when it is made, and never again', async () => {
    const { url } = await receiver();
    const answer = await server.request('POST', '/auth/v1/auth/webhooks', {
      body: { url, events: ['user.created', 'auth.role.*'] },
    });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { secret, ...webhook } = answer.body as IssuedWebhook;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(webhook).toMatchObject({
      url,
      app_id: 'default',
      events: ['user.created', 'auth.role.*'],
      active: true,
      disabled_reason: null,
    });
    expect(await get(webhook.id)).toEqual(webhook);
    expect(await api.send('GET', '/webhooks')).toEqual({ webhooks: [webhook] });
    const [stored] = await server.db.sql`select secret_box from auth.webhooks`;
    expect((stored!['secret_box'] as Buffer).includes(Buffer.from(secret))).toBe(false);
  });

  it('asks for everything unless it says otherwise', async () => {
    const { url } = await receiver();
    expect(await create({ url })).toMatchObject({ events: ['*'], active: true });
  });

  it.each([
    [{}, 'url: required'],
    [{ url: 'nonsense' }, 'url: must be a URL'],
    [{ url: 'ftp://example.com/' }, 'url: must be an https URL'],
    [{ url: 'https://user:pass@example.com/' }, 'url: must not carry a user name or password'],
    [{ url: 'https://example.com/', events: [] }, 'events: must not be empty'],
  ])('%j is a 400 that says %s', async (body, message) =>
    expect(await api.refusal('POST', '/webhooks', { body })).toEqual([400, message]),
  );

  it('cannot ask for events that there are none of', async () => {
    const body = { url: 'https://example.com/', events: ['user.exploded'] };
    expect((await api.refusal('POST', '/webhooks', { body }))[0]).toBe(400);
  });

  it('is one of 20 at most, also when many are made at once', async () => {
    const { url } = await receiver();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => server.request('POST', '/auth/v1/auth/webhooks', { body: { url } })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 409)).toHaveLength(10);
    expect(await api.refusal('POST', '/webhooks', { body: { url } })).toEqual([
      409,
      'limit reached: 20 webhooks',
    ]);
  });

  it('is changed member by member', async () => {
    const made = await create({ url: 'https://example.com/a' });
    const path = `/webhooks/${made.id}`;
    const body = { url: 'https://example.com/b', events: ['auth.signin'], active: false };
    expect(await api.send('PATCH', path, { body })).toMatchObject(body);
    expect(await api.send('PATCH', path, { body: { active: true } })).toMatchObject({
      ...body,
      active: true,
    });
    expect(await api.refusal('PATCH', path, { body: { url: 'http://user@x' } })).toEqual([
      400,
      'url: must not carry a user name or password',
    ]);
    expect(await api.refusal('PATCH', path, { body: { app_id: 'other' } })).toEqual([
      400,
      'app_id: cannot be changed',
    ]);
  });

  it('that is deleted is gone, with its deliveries', async () => {
    const { url } = await receiver(500);
    const made = await create({ url });
    await test(made);
    expect(await api.send('DELETE', `/webhooks/${made.id}`)).toEqual({ status: 'deleted' });
    expect(await api.refusal('GET', `/webhooks/${made.id}`)).toEqual([404, 'webhook not found']);
    const left = await server.db.sql`select id from auth.deliveries where webhook_id = ${made.id}`;
    expect(left.length).toBe(0);
  });
});

describe('a delivery', () => {
  it('is the event, signed so that the library of the specification verifies it', async () => {
    const { url, received } = await receiver(200);
    const webhook = await create({ url });
    const sent = await test(webhook);
    expect(sent).toMatchObject({ state: 'pending', attempts: 0, event: 'auth.webhook.test' });
    const done = await delivery(webhook, ({ state }) => state === 'delivered');
    expect(done).toEqual({
      ...sent,
      state: 'delivered',
      attempts: 1,
      status_code: 200,
      next_attempt_at: null,
    });
    const [{ headers, body }] = received as [Received];
    expect(new Verifier(webhook.secret).verify(body, headers as Record<string, string>)).toMatchObject({
      specversion: '1.0',
      id: sent.event_id,
      source: '/auth',
      type: 'auth.webhook.test',
      subject: webhook.id,
      tenantid: 'default',
      appid: 'default',
      data: { app_id: 'default' },
    });
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': sent.event_id });
  });

  it('is signed with the secret before as well, for a day after the rotation', async () => {
    const { url, received } = await receiver(200);
    const first = await create({ url });
    const second: IssuedWebhook = await api.send('POST', `/webhooks/${first.id}/rotate-secret`);
    expect(second.secret).not.toBe(first.secret);
    await test(first);
    await delivery(first, ({ state }) => state === 'delivered');
    const verify = ({ secret }: IssuedWebhook, { headers, body }: Received) =>
      new Verifier(secret).verify(body, headers as Record<string, string>);
    for (const issued of [first, second]) expect(() => verify(issued, received[0]!)).not.toThrow();
    await server.db.sql`update auth.webhooks set previous_until = now() - interval '1 second'`;
    await test(first);
    await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 20_000 });
    expect(() => verify(second, received[1]!)).not.toThrow();
    expect(() => verify(first, received[1]!)).toThrow();
  });

  it('that fails is tried again later, and has failed after the eighth time', async () => {
    const { url, received } = await receiver(503);
    const webhook = await create({ url });
    await test(webhook);
    for (let attempts = 1; attempts <= 8; attempts++) {
      const tried = await delivery(webhook, (found) => found.attempts === attempts);
      expect(tried).toMatchObject({
        state: attempts < 8 ? 'pending' : 'failed',
        status_code: 503,
        error: 'the receiver answered 503',
      });
      expect(tried.next_attempt_at === null).toBe(attempts === 8);
      await hurry();
    }
    expect(received).toHaveLength(8);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  }, 60_000);

  it('that has failed is sent again on request', async () => {
    const { url } = await receiver(500, 200);
    const webhook = await create({ url });
    const { id } = await test(webhook);
    await delivery(webhook, ({ attempts }) => attempts === 1);
    await server.db.sql`update auth.deliveries set state = 'failed', next_attempt_at = null where id = ${id}`;
    const again = await api.send('POST', `/webhooks/${webhook.id}/deliveries/${id}/retry`);
    expect(again).toMatchObject({ id, state: 'pending', attempts: 0, error: null });
    await delivery(webhook, ({ state }) => state === 'delivered');
  });

  it('is not redirected', async () => {
    const { url } = await receiver(302);
    const webhook = await create({ url });
    await test(webhook);
    const tried = await delivery(webhook, ({ attempts }) => attempts === 1);
    expect(tried).toMatchObject({ state: 'pending', status_code: 302, error: 'the receiver answered 302' });
  });

  it('that is answered 410 switches the webhook off; switched on it goes on', async () => {
    const { url, received } = await receiver(410, 200);
    const webhook = await create({ url });
    await test(webhook);
    await delivery(webhook, ({ state }) => state === 'failed');
    expect(await get(webhook.id)).toMatchObject({
      active: false,
      disabled_reason: 'the receiver answered 410 Gone',
    });
    const body = { active: true };
    expect(await api.send('PATCH', `/webhooks/${webhook.id}`, { body })).toMatchObject({
      active: true,
      disabled_reason: null,
    });
    await test(webhook);
    await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 20_000 });
  });

  it('that fails when nothing was taken for five days switches the webhook off', async () => {
    const { url } = await receiver(500);
    const webhook = await create({ url });
    await server.db
      .sql`update auth.webhooks set created_at = now() - interval '6 days' where id = ${webhook.id}`;
    await test(webhook);
    await delivery(webhook, ({ attempts }) => attempts === 1);
    expect(await get(webhook.id)).toMatchObject({
      active: false,
      disabled_reason: 'nothing was taken for five days',
    });
  });

  it('that a process died with is sent by another, when its claim is over', async () => {
    const { url, received } = await receiver(200);
    const webhook = await create({ url, active: false });
    const { id } = await test({ id: webhook.id });
    await delivery(webhook, ({ state }) => state === 'delivered');
    await server.db.sql`
      update auth.deliveries set state = 'pending', next_attempt_at = now(), claimed_until = now() - interval '1 second'
      where id = ${id}`;
    await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 20_000 });
  });
});

describe('a server that outsiders reach', () => {
  let guarded: TestServer;
  beforeAll(async () => {
    guarded = await testServer({ services: ['auth'], allowPrivateTargets: false });
  });
  afterAll(() => guarded.close());

  it.each(['https://127.0.0.1/', 'https://169.254.169.254/', 'https://[::ffff:10.0.0.1]/', 'https://10.1/'])(
    'does not take %s',
    async (url) => {
      expect(await tools(guarded).refusal('POST', '/webhooks', { body: { url } })).toEqual([
        400,
        'url: address not allowed',
      ]);
    },
  );

  it('does not send to a name of its own network either', async () => {
    const api = tools(guarded);
    const webhook: IssuedWebhook = await api.send('POST', '/webhooks', {
      body: { url: 'https://localhost/hooks' },
    });
    await api.send('POST', `/webhooks/${webhook.id}/test`);
    const failed = await vi.waitFor(
      async () => {
        const { deliveries } = await api.send('GET', `/webhooks/${webhook.id}/deliveries`);
        expect(deliveries).toMatchObject([{ state: 'failed' }]);
        return (deliveries as [Delivery])[0];
      },
      { timeout: 20_000 },
    );
    expect(failed).toMatchObject({ attempts: 1, status_code: null, error: 'address not allowed' });
  });
});

it("another tenant's webhook is answered as one that does not exist", async () => {
  const webhook = await create({ url: 'https://example.com/' });
  await server.db.sql`
    insert into auth.directory (id, tenant_id) values ('app_01m7w6qgepfq9s8vbfm2tkz5s1', 'stranger')
    on conflict do nothing`;
  await server.db.sql`
    insert into auth.apps (id, tenant_id, name, slug, is_default, settings)
    select 'app_01m7w6qgepfq9s8vbfm2tkz5s1', 'stranger', 'S', 's', true, settings from auth.apps where id = 'default'
    on conflict do nothing`;
  const absent = 'whk_01m7w6qgepfq9s8v928hnevarz';
  for (const [method, tail, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { active: false }],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', undefined],
    ['POST', '/test', undefined],
    ['GET', '/deliveries', undefined],
    ['POST', '/deliveries/whd_01m7w6qgepfq9s8v99bvv1f2wy/retry', undefined],
  ] as const) {
    const ask = (id: string) =>
      server.request(method, `/auth/v1/auth/webhooks/${id}${tail}`, {
        tenant: 'stranger',
        ...(body && { body }),
      });
    const [theirs, nobodys] = [await ask(webhook.id), await ask(absent)];
    expect([theirs.status, theirs.text], `${method} ${tail}`).toEqual([404, nobodys.text]);
  }
});
