import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Message } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newPhone, otherApp } from '../testing/index.ts';
import { adminTools } from '../testing/admin.ts';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

const list = async (query = '', headers = {}): Promise<Message[]> =>
  (await api.send('GET', `/dev/outbox${query}`, { headers })).messages;

it('keeps what would have been sent, with its token', async () => {
  const { user } = await api.signUp();
  const message = await api.message(user.email!, 'verify_email');
  expect(message).toEqual({
    id: expect.stringMatching(/^msg_/),
    app_id: 'default',
    channel: 'email',
    to: user.email,
    kind: 'verify_email',
    subject: 'Verify your email address for Default app',
    text: expect.stringContaining(message.token!),
    html: expect.stringContaining(message.token!),
    token: expect.stringMatching(/^vrf_/),
    code: null,
    state: 'sent',
    created_at: expect.any(String),
  });
  const one = await server.request('GET', `/auth/v1/auth/dev/outbox/${message.id}`);
  expect([one.status, one.headers.get('cache-control'), one.body]).toEqual([200, 'no-store', message]);
});

it('is walked page by page, newest first, and filtered', async () => {
  const phone = newPhone();
  for (let at = 0; at < 3; at++) await api.send('POST', '/phone/send-code', { token: null, body: { phone } });
  const to = `to=${encodeURIComponent(phone)}`;
  const all = await list(`?${to}`);
  expect(all.map(({ created_at }) => created_at)).toEqual(
    all
      .map(({ created_at }) => created_at)
      .toSorted()
      .toReversed(),
  );
  const first = await server.request('GET', `/auth/v1/auth/dev/outbox?${to}&limit=2`);
  expect(first.headers.get('cache-control')).toBe('no-store');
  const next = first.headers.get('x-next-cursor')!;
  const second = await server.request('GET', `/auth/v1/auth/dev/outbox?${to}&limit=2&cursor=${next}`);
  expect([...first.body.messages, ...second.body.messages]).toEqual(all);
  expect([all.length, second.headers.get('x-next-cursor')]).toEqual([3, null]);
  expect(await list(`?${to}&kind=mfa_code`)).toEqual([]);
  expect((await api.refusal('GET', '/dev/outbox?cursor=x'))[0]).toBe(400);
  expect((await api.refusal('GET', '/dev/outbox?kind=x'))[0]).toBe(400);
  expect((await api.refusal('GET', `/dev/outbox?to=${encodeURIComponent('a\0b')}`))[0]).toBe(400);
});

it('belongs to one app', async () => {
  const app = await otherApp(server);
  const { user } = await api.signUp({ app_id: app.id });
  const own = { 'x-tenant-id': app.tenant, 'x-app-id': app.id };
  const [message] = await list('', own);
  expect(message!.to).toBe(user.email);
  expect(await list(`?to=${user.email!}`)).toEqual([]);
  const foreign = await server.request('GET', `/auth/v1/auth/dev/outbox/${message!.id}`);
  const unknown = await server.request('GET', '/auth/v1/auth/dev/outbox/msg_01m7w6qgepfq9s8vbawh33jbe6');
  expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  await api.signUp();
  const before = await list();
  expect(before.length).toBeGreaterThan(0);
  expect(await api.send('DELETE', '/dev/outbox', { headers: own })).toEqual({ status: 'deleted' });
  expect(await api.send('DELETE', '/dev/outbox', { headers: own })).toEqual({ status: 'deleted' });
  expect(await list('', own)).toEqual([]);
  expect(await list()).toEqual(before);
});

it('is for the administration', async () => {
  const { session_token } = await api.signUp();
  for (const [method, path] of [
    ['GET', '/dev/outbox'],
    ['DELETE', '/dev/outbox'],
    ['GET', '/dev/outbox/msg_01m7w6qgepfq9s8vbawh33jbe6'],
  ] as const) {
    expect((await api.refusal(method, path, { token: null }))[0]).toBe(401);
    expect((await api.refusal(method, path, { token: session_token }))[0]).toBe(403);
  }
  expect((await api.refusal('GET', '/dev/outbox/none'))[0]).toBe(400);
});

it('shows nobody what opens an account that holds more than they do', async () => {
  const [token, { user: owner }, { user: other }] = [
    await api.holding('auth:*'),
    await api.signUp(),
    await api.signUp(),
  ];
  await api.give(owner, {}, ['*']);
  const seen = async (to: string, as?: string) =>
    (await api.send('GET', `/dev/outbox?to=${to}`, as === undefined ? {} : { token: as }))
      .messages as Message[];
  const [[message], [plain]] = [await seen(owner.email!), await seen(other.email!)];
  expect(await seen(owner.email!, token)).toEqual([]);
  expect(await seen(other.email!, token)).toEqual([plain]);
  expect((await api.refusal('GET', `/dev/outbox/${message!.id}`, { token }))[0]).toBe(404);
  expect(await api.send('GET', `/dev/outbox/${plain!.id}`, { token })).toEqual(plain);
});
