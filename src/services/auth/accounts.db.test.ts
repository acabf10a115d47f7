import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import type { AppSettings } from '../../../generated/auth/types.ts';
import { newId } from '../../lib/ids.ts';
import { appStore } from './apps.store.ts';
import { initialSettings } from './first-app.ts';
import { newEmail, newSlug, tools } from './testing.ts';
import { messagesTo } from './testing-messages.store.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const password = 'correct horse battery staple';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = tools(server);
});
afterAll(() => server.close());

/** Without credentials, in the app `default`. */
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  server.request('POST', `/auth/v1/auth${path}`, { token: null, body, headers });
const refusal = (path: string, body: object, headers: Record<string, string> = {}) =>
  api.refusal('POST', path, { token: null, body, headers });
const signin = (body: object, headers: Record<string, string> = {}) =>
  post('/signin', { app_id: 'default', password, ...body }, headers);
/** Whether a session token is good: its bearer is told what is missing, others to sign in. */
const isLive = async (token: string) => {
  const { status } = await server.request('POST', '/auth/v1/auth/change-password', { token, body: {} });
  return status === 400;
};

describe('app context', () => {
  const unnamed = { email: 'ada@example.com', password };
  it.each<[name: string, body: object, headers: Record<string, string>, error: string]>([
    [
      'neither key nor app_id',
      {},
      {},
      'app context required: send X-Publishable-Key header or app_id in the body',
    ],
    ['an unknown app', { app_id: 'nope' }, {}, 'unknown app_id'],
    ['an unknown key', {}, { 'x-publishable-key': 'pk_0000000000000000000000' }, 'unknown publishable key'],
    [
      'a key of another form',
      {},
      { 'x-publishable-key': 'sk_7Qm2xVt0aLw9RkZc4HdYp1' },
      'unknown publishable key',
    ],
  ])('%s', async (_name, body, headers, error) => {
    for (const path of ['/signup', '/signin'])
      expect(await refusal(path, { ...unnamed, ...body }, headers)).toEqual([400, error]);
    for (const path of ['/forgot-password', '/verify-email/resend'])
      expect(await refusal(path, { email: unnamed.email, ...body }, headers)).toEqual([400, error]);
  });

  it('a publishable key names the app, and an app_id beside it must agree', async () => {
    const [{ key }] = await server.db.sql<[{ key: string }]>`
      select key from auth.publishable_keys where app_id = 'default' limit 1`;
    const headers = { 'x-publishable-key': key };
    const email = newEmail();
    expect((await post('/signup', { email, password }, headers)).body.user.app_id).toBe('default');
    expect((await post('/signin', { email, password, app_id: 'default' }, headers)).status).toBe(200);
    expect(await refusal('/signin', { email, password, app_id: 'other' }, headers)).toEqual([
      400,
      'app_id does not match publishable key',
    ]);
  });

  it('root credentials do not stand in for it', async () => {
    expect(await api.refusal('POST', '/signin', { body: unnamed })).toEqual([
      400,
      'app context required: send X-Publishable-Key header or app_id in the body',
    ]);
  });

  it('pages of the origins of an app may call, with its key and their device', async () => {
    const origin = `https://${newSlug()}.example.com`;
    const preflight = (path: string) =>
      fetch(server.url + path, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const allowed = async (path = '/auth/v1/auth/signin') =>
      (await preflight(path)).headers.get('access-control-allow-origin');
    expect(await allowed()).toBeNull();
    await appWith({ allowed_origins: [origin] });
    await server.restart();
    expect(await allowed()).toBe(origin);
    expect(await allowed('/keys/v1/keys')).toBeNull();
    const { headers } = await preflight('/auth/v1/auth/signin');
    expect(headers.get('access-control-allow-headers')).toMatch(/X-Publishable-Key.*X-Device-Token/);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const answer = await signin({ email: newEmail() }, { origin });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Device-Token');
  });

  it('the configuration of the app', async () => {
    const { body } = await server.request('GET', '/auth/v1/auth/client-config?app_id=default', {
      token: null,
    });
    expect(body).toEqual({
      app_id: 'default',
      name: 'Default app',
      signup_enabled: true,
      password_min_length: 8,
      form: null,
      branding: null,
    });
    expect(await api.refusal('GET', '/client-config?app_id=nope', { token: null })).toEqual([
      400,
      'unknown app_id',
    ]);
  });
});

describe('signup', () => {
  it('201 with the user, the tokens and a device token; the session works', async () => {
    const email = newEmail();
    const username = newSlug();
    const answer = await post('/signup', {
      email: email.toUpperCase(),
      password,
      name: '  Ada Lovelace ',
      username,
      app_id: 'default',
      metadata: { company: 'Analytical Engines' },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-device-token')).toMatch(/^dvt_[0-9A-Za-z]{55}$/);
    const { user, ...tokens } = answer.body;
    expect(user).toEqual({
      id: expect.stringMatching(/^user_/),
      app_id: 'default',
      email,
      username,
      name: 'Ada Lovelace',
      image: null,
      email_verified: false,
      phone: null,
      phone_verified: false,
      banned: false,
      ban_reason: null,
      ban_expires_at: null,
      last_signin_at: user.created_at,
      metadata: { company: 'Analytical Engines' },
      created_at: expect.any(String),
      updated_at: user.created_at,
    });
    expect(tokens).toEqual({
      session_token: expect.stringMatching(/^pst_[0-9A-Za-z]{55}$/),
      refresh_token: expect.stringMatching(/^prt_[0-9A-Za-z]{55}$/),
      expires_at: new Date(Date.parse(user.created_at) + 3_600_000).toISOString(),
      is_new_user: true,
    });
    expect(await isLive(tokens.session_token)).toBe(true);
  });

  it('gives the default role', async () => {
    const { user } = await api.signUp();
    const roles = await server.db.sql<{ slug: string }[]>`
      select slug from auth.assignments join auth.roles on roles.id = role_id where user_id = ${user.id}`;
    expect(roles.map(({ slug }) => slug)).toEqual(['user']);
  });

  it.each<[name: string, body: object, error: [number, string, string?]]>([
    ['without email', { email: undefined }, [400, 'email: required']],
    ['without password', { password: undefined }, [400, 'password: required']],
    ['an email that is none', { email: 'ada' }, [400, 'email: must be an email address']],
    ['a short password', { password: 'short' }, [400, 'password: must have at least 8 characters']],
    ['a common password', { password: 'PassWord123' }, [400, 'password: is too common', 'weak_password']],
    [
      'the name as password',
      { name: 'Ada Lovelace', password: 'ada lovelace' },
      [400, 'password: must not be the email, username or name', 'weak_password'],
    ],
    ['a newline in the name', { name: 'Ada\nLovelace' }, [400, 'name: must not contain control characters']],
    ['a null byte', { name: 'Ada\0' }, [400, 'name: must not contain U+0000']],
    ['a bad username', { username: 'no spaces' }, [400, 'username: must match ^[A-Za-z0-9][A-Za-z0-9._-]+$']],
    ['an unknown member', { pasword: 'x' }, [400, 'pasword: unknown']],
    ['a list as metadata', { metadata: [] }, [400, 'metadata: must be an object']],
    [
      'metadata too deep',
      { metadata: { a: { b: { c: { d: { e: {} } } } } } },
      [400, 'metadata: at most 5 levels'],
    ],
    ['metadata too large', { metadata: { a: 'x'.repeat(17_000) } }, [400, 'metadata: at most 16384 bytes']],
  ])('400 %s', async (_name, body, error) => {
    expect(await refusal('/signup', { email: newEmail(), password, app_id: 'default', ...body })).toEqual(
      error,
    );
  });

  it('keeps __proto__ in metadata as data', async () => {
    const email = newEmail();
    const answer = await server.request('POST', '/auth/v1/auth/signup', {
      token: null,
      body: `{"email":"${email}","password":"${password}","app_id":"default","metadata":{"__proto__":{"admin":true}}}`,
    });
    expect(answer.status).toBe(201);
    expect(answer.text).toContain('"metadata":{"__proto__":{"admin":true}}');
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  it('413 and 415', async () => {
    const big = JSON.stringify({
      email: newEmail(),
      password,
      app_id: 'default',
      name: 'x'.repeat(1_048_576),
    });
    expect((await post('/signup', JSON.parse(big) as object)).status).toBe(413);
    expect((await post('/signup', {}, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('of 50 at once with one address one gets it', async () => {
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        post('/signup', { email: n % 2 ? email : email.toUpperCase(), password, app_id: 'default' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(49).fill(409)]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      error: 'email already taken',
      code: 'CONFLICT',
    });
  });

  it('of 20 at once with one username in several cases one gets it', async () => {
    const username = newSlug();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        post('/signup', {
          email: newEmail(),
          password,
          app_id: 'default',
          username: n % 2 ? username : username.toUpperCase(),
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    expect(answers.find(({ status }) => status === 409)?.body.error).toBe('username already taken');
  });
});

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
      'email: required, or username',
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

describe('settings of the app', () => {
  it('403 where sign-up is disabled', async () => {
    const app_id = await appWith({ signup_enabled: false });
    expect(await refusal('/signup', { email: newEmail(), password, app_id })).toEqual([
      403,
      'sign-up is disabled',
      'signup_disabled',
    ]);
  });

  it('require_verified_email: the first session works, later sign-ins wait for the verification', async () => {
    const app_id = await appWith({ require_verified_email: true });
    const { user, session_token } = await api.signUp({ app_id });
    expect(await isLive(session_token)).toBe(true);
    expect(await refusal('/signin', { email: user.email, password, app_id })).toEqual([
      403,
      'email is not verified',
      'email_not_verified',
    ]);
    const { token } = await messageTo(user.email!, 'verify_email');
    expect((await post('/verify-email', { token })).body).toEqual({ status: 'email_verified' });
    expect((await signin({ email: user.email, app_id })).status).toBe(200);
  });

  it('a longer password_min_length', async () => {
    const app_id = await appWith({ password_min_length: 12 });
    expect(await refusal('/signup', { email: newEmail(), password: 'brass-wheel', app_id })).toEqual([
      400,
      'password: must have at least 12 characters',
      'weak_password',
    ]);
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

/** The newest message of a kind to an address, as soon as there is one after `than`. */
async function messageTo(
  email: string,
  kind: string,
  than = '',
): Promise<{ id: string; token: string; text: string }> {
  const read = async () =>
    (await messagesTo(server.db.sql, email)).findLast(
      (message) => message.kind === kind && message.id > than,
    );
  await expect.poll(read).toBeDefined();
  const { id, token, text } = (await read())!;
  return { id, token: token!, text };
}

/** An app of its own with these settings. */
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
