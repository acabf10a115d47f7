import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedWebhook } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing/index.ts';
import { closeReceivers, receiver, webhookTools } from '../testing/webhooks.ts';

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

const { create, test, get } = webhookTools(() => server);

describe('a webhook', () => {
  it('shows its secret when it is made, and never again', async () => {
    const { url } = await receiver();
    const answer = await server.request('POST', '/auth/v1/auth/webhooks', {
      body: { url, events: ['user.created', 'auth.role.*'] },
    });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { secret, ...webhook } = answer.body as IssuedWebhook;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
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
