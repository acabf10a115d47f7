/** What happens to a caller who repeatedly fails to sign in, and that the owner still gets in. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail, newSlug, tools } from '../testing/index.ts';
import { messagesTo } from '../testing/messages.store.ts';

const password = 'correct horse battery staple';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
  server = await testServer({ services: ['auth'], env, trustedProxy: ['127.0.0.1'] });
  api = tools(server);
});
afterAll(() => server.close());

interface From {
  ip?: string;
  device?: string | undefined;
}

const signin = (body: object, { ip = '203.0.113.7', device }: From = {}) =>
  server.request('POST', '/auth/v1/auth/signin', {
    token: null,
    headers: { 'x-forwarded-for': ip, ...(device === undefined ? {} : { 'x-device-token': device }) },
    body: { app_id: 'default', password: 'wrong', ...body },
  });

/** Raises the counters of a failure just now to `failures`, without hashing a password for each. */
const fail = async (body: object, from: From, failures: number) => {
  await signin(body, from);
  await server.db
    .sql`update auth.throttles set failures = ${failures} where failures > 0 and last_at > now() - interval '2 seconds'`;
};
const pass = (seconds: number) =>
  server.db.sql`update auth.throttles set last_at = last_at - ${seconds} * interval '1 second'`;

async function owner() {
  const answer = await server.request('POST', '/auth/v1/auth/signup', {
    token: null,
    body: { email: newEmail(), password, username: newSlug(), app_id: 'default' },
  });
  return { ...answer.body.user, device: answer.headers.get('x-device-token')! } as {
    email: string;
    username: string;
    id: string;
    device: string;
  };
}

describe('failed sign-ins', () => {
  it('from the fifth on the account waits, for who fails as for who is right, and whether it exists or not', async () => {
    const { email } = await owner();
    for (const tried of [email, newEmail()]) {
      for (let n = 0; n < 5; n += 1) expect((await signin({ email: tried })).status).toBe(401);
      const blocked = await signin({ email: tried, password });
      expect(blocked.body).toEqual({ error: 'too many attempts', code: 'RATE_LIMITED', reason: 'throttled' });
      expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '1']);
    }
    await pass(1);
    expect((await signin({ email, password })).status).toBe(200);
  });

  it('a blocked try is not counted; a success forgets the failures of its network', async () => {
    const { email, id } = await owner();
    for (let n = 0; n < 5; n += 1) await signin({ email });
    await Promise.all(Array.from({ length: 10 }, () => signin({ email })));
    await pass(1);
    expect((await signin({ email })).status).toBe(401);
    expect((await signin({ email })).headers.get('retry-after')).toBe('2');
    await pass(2);
    expect((await signin({ email, password })).status).toBe(200);
    for (let n = 0; n < 4; n += 1) expect((await signin({ email })).status).toBe(401);
    expect((await signin({ email, password })).status).toBe(200);
    const failed = await server.db.sql<{ data: object; actor: string }[]>`
      select data from auth.outbox where type = 'auth.signin_failed' and data->>'user_id' = ${id}`;
    expect(failed).toHaveLength(10);
    expect(failed[0]!.data).toEqual({
      app_id: 'default',
      user_id: id,
      identifier_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('other networks, other accounts and the username are not concerned', async () => {
    const [{ email, username }, other] = [await owner(), await owner()];
    for (let n = 0; n < 5; n += 1) await signin({ email });
    expect((await signin({ email, password })).status).toBe(429);
    expect((await signin({ email, password }, { ip: '203.0.113.250' })).status).toBe(429);
    expect((await signin({ email, password }, { ip: '198.51.100.1' })).status).toBe(200);
    expect((await signin({ email: other.email, password })).status).toBe(200);
    expect((await signin({ username, password })).status).toBe(200);
  });

  it('under an attack from everywhere the owner gets in from a known device; nobody waits for longer than 30 s', async () => {
    const { email, device } = await owner();
    const stranger = await owner();
    await fail({ email }, { ip: '192.0.2.1' }, 1_000);
    const elsewhere = { ip: '198.51.100.77' };
    const blocked = await signin({ email, password }, elsewhere);
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '30']);
    expect((await signin({ email, password }, { ...elsewhere, device: stranger.device })).status).toBe(429);
    expect((await signin({ email, password }, { ...elsewhere, device })).status).toBe(200);
    await pass(30);
    expect((await signin({ email, password }, elsewhere)).status).toBe(200);
  });

  it('a stolen device token opens no way around: it has its own counter', async () => {
    const { email, device } = await owner();
    await fail({ email }, { ip: '192.0.2.1', device }, 79);
    expect((await signin({ email, password }, { ip: '198.51.100.77', device })).status).toBe(429);
    expect((await signin({ email, password }, { ip: '198.51.100.77' })).status).toBe(200);
  });

  it('are forgotten after an hour, and by a password reset', async () => {
    const [{ email }, other] = [await owner(), await owner()];
    for (const { email: tried } of [{ email }, other]) await fail({ email: tried }, {}, 20);
    await pass(600);
    expect((await signin({ email, password })).status).toBe(429);
    await api.send('POST', '/forgot-password', {
      token: null,
      body: { email: other.email, app_id: 'default' },
    });
    const sent = async () =>
      (await messagesTo(server.db.sql, other.email)).find(({ kind }) => kind === 'reset_password')?.token;
    await expect.poll(sent).toBeTruthy();
    const token = await sent();
    await api.send('POST', '/reset-password', { token: null, body: { token, new_password: password } });
    expect((await signin({ email: other.email, password })).status).toBe(200);
    expect((await signin({ email, password })).status).toBe(429);
    await pass(3_000);
    expect((await signin({ email, password })).status).toBe(200);
  });
});
