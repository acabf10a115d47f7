import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import type { AppSettings } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { appStore } from '../directory/apps.store.ts';
import { initialSettings } from '../directory/first-app.ts';
import { newEmail, newSlug, tools } from '../testing/index.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const password = 'correct horse battery staple';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = tools(server);
});
afterAll(() => server.close());

/** Sends a request without credentials, in the app `default`. */
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  server.request('POST', `/auth/v1/auth${path}`, { token: null, body, headers });
const refusal = (path: string, body: object, headers: Record<string, string> = {}) =>
  api.refusal('POST', path, { token: null, body, headers });
const signin = (body: object, headers: Record<string, string> = {}) =>
  post('/signin', { app_id: 'default', password, ...body }, headers);
/** Whether a session token is valid: its bearer is told which member is missing, others get 401. */
const isLive = async (token: string) => {
  const { status } = await server.request('POST', '/auth/v1/auth/change-password', { token, body: {} });
  return status === 400;
};

describe('signin', () => {
  it('200 by email and by username, whatever their case; a known device gets no second token', async () => {
    const username = newSlug();
    const { user } = await api.signUp({ username });
    const answer = await signin({ email: user.email!.toUpperCase() });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-device-token')).toBeNull();
    expect(answer.body).toEqual({
      user: { ...user, last_signin_at: expect.any(String) },
      session_token: expect.stringMatching(/^pst_/),
      refresh_token: expect.stringMatching(/^prt_/),
      expires_at: expect.any(String),
      is_new_user: false,
    });
    expect((await signin({ username: username.toUpperCase() })).status).toBe(200);
    const both = { email: newEmail(), username };
    expect((await signin(both)).status).toBe(401);
  });

  it('400 without email and username', async () => {
    expect(await refusal('/signin', { password, app_id: 'default' })).toEqual([
      400,
      'email: required, unless username is given',
    ]);
  });

  it('the same bytes for an unknown user, one without a password and a wrong password', async () => {
    const [{ user }, { user: without }] = await Promise.all([api.signUp(), api.signUp()]);
    await server.db.sql`update auth.users set password_hash = null where id = ${without.id}`;
    const answers = await Promise.all([
      signin({ email: newEmail() }),
      signin({ email: without.email }),
      signin({ email: user.email, password: 'wrong' }),
    ]);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['401 {"error":"invalid credentials","code":"UNAUTHORIZED"}']),
    );
    expect(answers.map(({ headers }) => headers.get('www-authenticate'))).toEqual(Array(3).fill('Bearer'));
  });

  it('403 for who is banned, until the ban has ended', async () => {
    const { user } = await api.signUp();
    await server.db.sql`update auth.users set banned = true where id = ${user.id}`;
    expect(await refusal('/signin', { email: user.email, password, app_id: 'default' })).toEqual([
      403,
      'user is banned',
      'user_banned',
    ]);
    await server.db.sql`update auth.users set ban_expires_at = now() where id = ${user.id}`;
    expect((await signin({ email: user.email })).status).toBe(200);
  });

  it('replaces a hash of another cost', async () => {
    const { user } = await api.signUp();
    const cheap = await server.db.sql<[{ password_hash: string }]>`
      select password_hash from auth.users where id = ${user.id}`;
    const { hash } = await import('@node-rs/argon2');
    const old = await hash(password, { memoryCost: 8192, timeCost: 1, parallelism: 1, outputLen: 32 });
    await server.db.sql`update auth.users set password_hash = ${old} where id = ${user.id}`;
    expect((await signin({ email: user.email })).status).toBe(200);
    const [{ password_hash }] = await server.db.sql<[{ password_hash: string }]>`
      select password_hash from auth.users where id = ${user.id}`;
    expect(password_hash.slice(0, 30)).toBe(cheap[0].password_hash.slice(0, 30));
    expect((await signin({ email: user.email })).status).toBe(200);
  });

  it('a second factor is due: a challenge, and no session', async () => {
    const { user } = await api.signUp();
    await server.db.sql`
      insert into auth.enrollments (id, tenant_id, user_id, method, verified)
      values (${`mfa_${user.id}`}, 'default', ${user.id}, 'totp', true)`;
    await server.db.sql`
      insert into auth.recovery_codes (tenant_id, user_id, hash) values ('default', ${user.id}, '\\x00')`;
    const answer = await signin({ email: user.email });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      mfa_required: true,
      challenge_token: expect.stringMatching(/^chall_[0-9A-Za-z]{55}$/),
      methods: ['totp', 'recovery'],
      expires_at: expect.any(String),
    });
    const [{ count }] = await server.db.sql<[{ count: number }]>`
      select count(*)::int as count from auth.sessions where user_id = ${user.id}`;
    expect(count).toBe(1);
  });

  it('over max_sessions the oldest ends', async () => {
    const app_id = await appWith({ max_sessions: 2 });
    const { user, session_token: first } = await api.signUp({ app_id });
    const later = [await signin({ email: user.email, app_id }), await signin({ email: user.email, app_id })];
    expect(await isLive(first)).toBe(false);
    for (const { body } of later) expect(await isLive(body.session_token)).toBe(true);
  });

  it('an account of one app is unknown to another', async () => {
    const { user } = await api.signUp();
    const app_id = await appWith({});
    expect((await signin({ email: user.email, app_id })).status).toBe(401);
    expect((await post('/signup', { email: user.email, password, app_id })).status).toBe(201);
  });
});

describe('signout', () => {
  it('200, and the tokens are good no more', async () => {
    const { session_token: token, refresh_token } = await api.signUp();
    const answer = await server.request('POST', '/auth/v1/auth/signout', { token });
    expect([answer.status, answer.body]).toEqual([200, { status: 'signed_out' }]);
    expect(await isLive(token)).toBe(false);
    expect((await post('/refresh', { refresh_token })).status).toBe(401);
    expect((await server.request('POST', '/auth/v1/auth/signout', { token })).status).toBe(401);
  });

  it('401 without credentials', async () => {
    expect((await server.request('POST', '/auth/v1/auth/signout', { token: null })).status).toBe(401);
  });
});

/** A separate app with these settings. */
async function appWith(settings: Partial<AppSettings>): Promise<string> {
  const id = newId('app');
  const store = appStore(server.db.sql);
  const all = { ...initialSettings, ...settings };
  await store.insertOnce({
    id,
    tenant_id: 'default',
    name: 'App',
    slug: newSlug(),
    is_default: false,
    settings: all,
  });
  await store.seedRoles('default', id);
  return id;
}
