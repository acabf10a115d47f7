import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { advice } from '../factors/password-rules.ts';
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
/** Whether a session token is valid: its bearer is told which member is missing, others get 401. */
const isLive = async (token: string) => {
  const { status } = await server.request('POST', '/auth/v1/auth/change-password', { token, body: {} });
  return status === 400;
};

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
    [
      'a common password',
      { password: 'PassWord123' },
      [400, `password: is too common: ${advice}`, 'weak_password'],
    ],
    [
      'a common one with digits',
      { password: 'iloveyou123' },
      [400, `password: is too common: ${advice}`, 'weak_password'],
    ],
    [
      'a common one with signs',
      { password: 'Passw0rd!' },
      [400, `password: is too common: ${advice}`, 'weak_password'],
    ],
    [
      'eight spaces',
      { password: ' '.repeat(8) },
      [400, `password: repeats itself: ${advice}`, 'weak_password'],
    ],
    [
      'the name of the app in it',
      { password: 'Default app 1' },
      [400, `password: is close to the email, the name or the app: ${advice}`, 'weak_password'],
    ],
    [
      'the name as password',
      { name: 'Ada Lovelace', password: 'ada lovelace' },
      [400, 'password: must not be the email, username or name', 'weak_password'],
    ],
    ['a newline in the name', { name: 'Ada\nLovelace' }, [400, 'name: must not contain control characters']],
    [
      'a name that reads otherwise',
      { name: 'Ada\u202Ecelevol' },
      [400, 'name: must not contain the invisible character U+202E'],
    ],
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
