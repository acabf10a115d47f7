import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { advice } from '../factors/password-rules.ts';
import { newEmail, tools } from '../testing/index.ts';
import { issueToken } from '../directory/tokens.ts';
import { messagesTo } from '../testing/messages.store.ts';

const password = 'correct horse battery staple';
const next = 'seven brass wheels turning';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = tools(server);
});
afterAll(() => server.close());

const post = (path: string, body: object, token: string | null = null) =>
  server.request('POST', `/auth/v1/auth${path}`, { token, body });
const signin = async (email: string | null, password: string) =>
  (await post('/signin', { email, password, app_id: 'default' })).status;
const isLive = async (token: string) => (await post('/change-password', {}, token)).status === 400;
const forgot = (email: string) => post('/forgot-password', { email, app_id: 'default' });
const invalidToken =
  '400 {"error":"token: invalid or expired","code":"BAD_REQUEST","reason":"invalid_token"}';

/** The tokens of a kind that were sent to the address, oldest first, once there are `count` of them. */
async function tokensOf(email: string | null, kind: string, count: number): Promise<string[]> {
  const read = async () =>
    (await messagesTo(server.db.sql, email)).filter((message) => message.kind === kind);
  await expect.poll(async () => (await read()).length).toBe(count);
  return (await read()).map(({ token }) => token!);
}

async function resetToken(email: string | null, nth = 1): Promise<string> {
  await forgot(email!);
  return (await tokensOf(email, 'reset_password', nth)).at(-1)!;
}

describe('forgot-password and resend', () => {
  it('the same body for known and unknown addresses', async () => {
    const { user } = await api.signUp();
    for (const path of ['/forgot-password', '/verify-email/resend']) {
      const answers = await Promise.all(
        [user.email, newEmail()].map((email) => post(path, { email, app_id: 'default' })),
      );
      expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(
        Array(2).fill('200 {"status":"ok"}'),
      );
    }
    await tokensOf(user.email, 'reset_password', 1);
    await expect.poll(async () => (await server.db.sql`select from auth.requests`).length).toBe(0);
  });

  it('400 for what is no address', async () => {
    expect(
      await api.refusal('POST', '/forgot-password', {
        token: null,
        body: { email: 'nobody', app_id: 'default' },
      }),
    ).toEqual([400, 'email: must be an email address']);
  });

  it('what was asked for before a restart is carried out after it', async () => {
    const { user } = await api.signUp();
    await server.db.sql`
      insert into auth.requests (id, tenant_id, app_id, kind, email)
      values (${`req_${user.id}`}, 'default', 'default', 'reset_password', ${user.email})`;
    await server.restart();
    await tokensOf(user.email, 'reset_password', 1);
  });

  it('resend sends another token to who has not verified, and the older one is void', async () => {
    const { user } = await api.signUp();
    await post('/verify-email/resend', { email: user.email, app_id: 'default' });
    const [first, second] = await tokensOf(user.email, 'verify_email', 2);
    expect((await post('/verify-email', { token: first })).text).toBe(invalidToken.slice(4));
    expect((await post('/verify-email', { token: second })).body).toEqual({ status: 'email_verified' });
    await post('/verify-email/resend', { email: user.email, app_id: 'default' });
    await resetToken(user.email);
    expect(await tokensOf(user.email, 'verify_email', 2)).toHaveLength(2);
  });
});

describe('verify-email', () => {
  it('verifies once; of 20 at once one does', async () => {
    const { user } = await api.signUp();
    const [token] = await tokensOf(user.email, 'verify_email', 1);
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/verify-email', { token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(400)]);
    const [row] = await server.db.sql`select email_verified from auth.users where id = ${user.id}`;
    expect(row).toEqual({ email_verified: true });
  });

  it('400 for an expired token, a token of another purpose, garbage, and after the address has changed', async () => {
    const { user } = await api.signUp();
    const [token = ''] = await tokensOf(user.email, 'verify_email', 1);
    const reset = await resetToken(user.email);
    for (const wrong of ['x', reset, issueToken('vrf', token.slice(4, 10)).token])
      expect((await post('/verify-email', { token: wrong })).text).toBe(invalidToken.slice(4));
    await server.db.sql`update auth.users set email = ${newEmail()} where id = ${user.id}`;
    expect((await post('/verify-email', { token })).text).toBe(invalidToken.slice(4));
    await server.db.sql`update auth.users set email = ${user.email} where id = ${user.id}`;
    await server.db.sql`update auth.one_time set expires_at = now() where subject = ${user.id}`;
    expect((await post('/verify-email', { token })).text).toBe(invalidToken.slice(4));
  });
});

describe('reset-password', () => {
  it('replaces the password and ends all sessions, grants, challenges and other reset tokens', async () => {
    const { user, session_token, refresh_token } = await api.signUp();
    await server.db.sql`
      insert into auth.oidc (model, id_hash, payload, user_id, tenant_id)
      values ('Grant', ${Buffer.from(user.id)}, '{}', ${user.id}, 'default')`;
    await server.db.sql`
      insert into auth.challenges (tenant_id, hash, app_id, user_id, method, expires_at)
      values ('default', ${Buffer.from(user.id)}, 'default', ${user.id}, 'password', now() + interval '1 minute')`;
    const older = await resetToken(user.email);
    const token = await resetToken(user.email, 2);
    expect(`400 ${(await post('/reset-password', { token: older, new_password: next })).text}`).toBe(
      invalidToken,
    );
    const answer = await post('/reset-password', { token, new_password: next });
    expect([answer.status, answer.body]).toEqual([200, { status: 'password_reset' }]);
    expect(await isLive(session_token)).toBe(false);
    expect((await post('/refresh', { refresh_token })).status).toBe(401);
    expect([await signin(user.email, password), await signin(user.email, next)]).toEqual([401, 200]);
    expect(await server.db.sql`select from auth.oidc where user_id = ${user.id}`).toHaveLength(0);
    expect(await server.db.sql`select from auth.challenges where user_id = ${user.id}`).toHaveLength(0);
    const events = await server.db.sql<{ type: string; data: object }[]>`
      select type, data from auth.outbox where subject = ${user.id} and type like 'auth.password%'`;
    expect(events).toEqual([{ type: 'auth.password_reset', data: { app_id: 'default', user_id: user.id } }]);
  });

  it('of 20 at once one does', async () => {
    const { user } = await api.signUp();
    const token = await resetToken(user.email);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => post('/reset-password', { token, new_password: `${next} ${n}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await signin(user.email, `${next} ${winner}`)).toBe(200);
  });

  it('400 for a weak password, which leaves the token good; for an expired token', async () => {
    const { user } = await api.signUp();
    const token = await resetToken(user.email);
    const weak = (new_password: string) =>
      api.refusal('POST', '/reset-password', { token: null, body: { token, new_password } });
    expect(await weak('password123')).toEqual([
      400,
      `new_password: is too common: ${advice}`,
      'weak_password',
    ]);
    expect(await weak('short')).toEqual([400, 'new_password: must have at least 8 characters']);
    expect(await weak(user.email!)).toEqual([
      400,
      'new_password: must not be the email, username or name',
      'weak_password',
    ]);
    const [{ minutes }] = await server.db.sql<[{ minutes: number }]>`
      select extract(epoch from expires_at - created_at)::int / 60 as minutes
      from auth.one_time where subject = ${user.id} and purpose = 'reset_password'`;
    expect(minutes).toBe(60);
    await server.db.sql`update auth.one_time set expires_at = now() where subject = ${user.id}`;
    expect(`400 ${(await post('/reset-password', { token, new_password: next })).text}`).toBe(invalidToken);
  });

  it('gives a password to who had none', async () => {
    const { user } = await api.signUp();
    await server.db.sql`update auth.users set password_hash = null where id = ${user.id}`;
    await post('/reset-password', { token: await resetToken(user.email), new_password: next });
    expect(await signin(user.email, next)).toBe(200);
  });
});

describe('change-password', () => {
  const change = (token: string, current_password: string, new_password: string) =>
    post('/change-password', { current_password, new_password }, token);

  it('replaces the password; the own session goes on, all others end', async () => {
    const { user, session_token } = await api.signUp();
    const { body: other } = await post('/signin', { email: user.email, password, app_id: 'default' });
    const reset = await resetToken(user.email);
    const answer = await change(session_token, password, next);
    expect([answer.status, answer.body]).toEqual([200, { status: 'password_changed' }]);
    expect([await isLive(session_token), await isLive(other.session_token)]).toEqual([true, false]);
    expect([await signin(user.email, password), await signin(user.email, next)]).toEqual([401, 200]);
    expect(`400 ${(await post('/reset-password', { token: reset, new_password: password })).text}`).toBe(
      invalidToken,
    );
  });

  it('401 for a wrong password and without credentials, 400 for a weak one', async () => {
    const { session_token } = await api.signUp({ name: 'Ada Lovelace' });
    const wrong = await change(session_token, 'wrong', next);
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid credentials']);
    expect((await change(session_token, password, 'ada lovelace')).body).toEqual({
      error: 'new_password: must not be the email, username or name',
      code: 'BAD_REQUEST',
      reason: 'weak_password',
    });
    expect((await post('/change-password', { current_password: password, new_password: next })).status).toBe(
      401,
    );
  });

  it('of 10 at once with the same password one does', async () => {
    const { user, session_token } = await api.signUp();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => change(session_token, password, `${next} ${n}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(401)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await signin(user.email, `${next} ${winner}`)).toBe(200);
  });

  it('403 while impersonating', async () => {
    const { user, session_token } = await api.signUp();
    await server.db.sql`update auth.sessions set impersonated_by = 'root' where user_id = ${user.id}`;
    expect((await change(session_token, password, next)).body).toEqual({
      error: 'not allowed while impersonating',
      code: 'FORBIDDEN',
      reason: 'impersonated',
    });
  });

  it('is throttled like a sign-in', async () => {
    const { session_token } = await api.signUp();
    for (let n = 0; n < 5; n += 1) expect((await change(session_token, 'wrong', next)).status).toBe(401);
    const answer = await change(session_token, password, next);
    expect([answer.status, answer.body.reason]).toEqual([429, 'throttled']);
  });
});
