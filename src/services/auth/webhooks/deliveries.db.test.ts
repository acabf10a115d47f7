import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Delivery, IssuedWebhook } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing/index.ts';
import {
  closeReceivers,
  hangingReceiver,
  receiver,
  webhookTools,
  type Received,
} from '../testing/webhooks.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = tools(server);
});
afterAll(() => server.close());
afterEach(async () => {
  closeReceivers();
  await server.db.sql`delete from auth.webhooks`;
});

const { create, test, get, delivery, hurry } = webhookTools(() => server);

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

it('a delivery whose request cannot be made has failed', async () => {
  const { url, received } = await receiver(200);
  const webhook = await create({ url });
  await server.db.sql`update auth.webhooks set secret_box = '\\x0102' where id = ${webhook.id}`;
  await test(webhook);
  expect(await delivery(webhook, ({ state }) => state === 'failed')).toMatchObject({
    attempts: 1,
    status_code: null,
    error: 'the request could not be made',
    next_attempt_at: null,
  });
  expect(received).toEqual([]);
});

describe('a receiver that fails', () => {
  const due = (webhookId: string) =>
    server.db.sql`
      update auth.deliveries set next_attempt_at = now() - interval '1 second' where webhook_id = ${webhookId} and state = 'pending'`;

  it('has at most four requests at once, and others are not kept waiting', async () => {
    const hanging = await hangingReceiver();
    const slow = await create({ url: hanging.url });
    for (let count = 0; count < 12; count++) await test(slow);
    await vi.waitFor(() => expect(hanging.requests()).toBe(4), { timeout: 20_000 });
    const { url } = await receiver(200);
    const healthy = await create({ url });
    await test(healthy);
    await delivery(healthy, ({ state }) => state === 'delivered');
    expect(hanging.requests()).toBe(4);
  });

  it('with others of its tenant leaves places to those of other tenants', async () => {
    const hanging = await hangingReceiver();
    const tenant = 'hanging';
    const app = await api.send('POST', '/apps', { tenant, body: { name: 'App', slug: 'app' } });
    const as = { tenant, headers: { 'X-App-ID': String(app['id']) } };
    for (let made = 0; made < 12; made++) {
      const { id } = await api.send('POST', '/webhooks', { ...as, body: { url: hanging.url } });
      for (let count = 0; count < 4; count++) await api.send('POST', `/webhooks/${id}/test`, as);
    }
    await vi.waitFor(() => expect(hanging.requests()).toBe(32), { timeout: 20_000 });
    const { url } = await receiver(200);
    const healthy = await create({ url });
    for (let count = 0; count < 8; count++) await test(healthy);
    await delivery(healthy, ({ state }) => state === 'delivered');
    expect(hanging.requests()).toBe(32);
  });

  it('is left in peace after ten failures, and gets a single request afterwards', async () => {
    const { url, received } = await receiver(500);
    const webhook = await create({ url });
    for (let count = 0; count < 12; count++) await test(webhook);
    const lane = async () =>
      (
        await server.db.sql<{ breaker: string; openings: number; isPaused: boolean }[]>`
          select breaker, openings, retry_at > now() as "isPaused" from auth.webhooks where id = ${webhook.id}`
      )[0];
    await vi.waitFor(async () => expect(await lane()).toMatchObject({ breaker: 'open', openings: 1 }), {
      timeout: 20_000,
    });
    expect(await lane()).toMatchObject({ isPaused: true });
    const inFlight = () =>
      server.db
        .sql`select from auth.deliveries where webhook_id = ${webhook.id} and claimed_until is not null`;
    await vi.waitFor(async () => expect(await inFlight()).toEqual([]), { timeout: 20_000 });
    await due(webhook.id);
    const seen = received.length;
    const { url: other } = await receiver(200);
    const healthy = await create({ url: other });
    await test(healthy);
    await delivery(healthy, ({ state }) => state === 'delivered');
    expect(received).toHaveLength(seen);
    await server.db.sql`update auth.webhooks set retry_at = now() where id = ${webhook.id}`;
    await vi.waitFor(async () => expect(await lane()).toMatchObject({ openings: 2 }), { timeout: 20_000 });
    expect(received).toHaveLength(seen + 1);
  });

  it('begins anew when its webhook gets another address', async () => {
    const { url } = await receiver(500);
    const webhook = await create({ url });
    await server.db
      .sql`update auth.webhooks set breaker = 'open', openings = 3, retry_at = now() + interval '1 hour' where id = ${webhook.id}`;
    const { url: other } = await receiver(200);
    await api.send('PATCH', `/webhooks/${webhook.id}`, { body: { url: other } });
    await test(webhook);
    await delivery(webhook, ({ state }) => state === 'delivered');
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
