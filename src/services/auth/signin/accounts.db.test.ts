import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import type { AppSettings } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { appStore } from '../directory/apps.store.ts';
import { initialSettings } from '../directory/first-app.ts';
import { newEmail, newSlug, tools } from '../testing/index.ts';
import { messagesTo } from '../testing/messages.store.ts';

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

/** The newest message of a kind to an address, once there is one after `than`. */
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
