/** The consequences of changes in how an account is proven: devices lose their trust, and the owner is notified. */
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuthResult, NewMfaEnrollment } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { mostNotices } from '../directory/account-changes.ts';
import { newEmail, newPhone, tools } from '../testing/index.ts';
import { messagesTo } from '../testing/messages.store.ts';

const password = 'correct horse battery staple';
const next = 'seven brass wheels turning';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const safari =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = tools(server);
  await api.send('PATCH', '/apps/default', { body: { settings: { mfa_trusted_devices: true } } });
});
afterAll(() => server.close());

const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

interface Owner {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  /** The headers that the device sends when it signs in. */
  readonly device: Record<string, string>;
  readonly deviceId: string;
  readonly secret: string;
  readonly codes: readonly string[];
}

const signin = (email: string, headers: Record<string, string>, secret = password) =>
  server.request('POST', '/auth/v1/auth/signin', {
    token: null,
    headers,
    body: { email, password: secret, app_id: 'default' },
  });

/** A user with a second factor and a trusted device; the notices about these are deleted. */
async function trustful(): Promise<Owner> {
  const email = newEmail();
  const headers = { 'User-Agent': firefox };
  const signedUp = await server.request('POST', '/auth/v1/auth/signup', {
    token: null,
    headers,
    body: { email, password, app_id: 'default' },
  });
  const { session_token: token, user } = signedUp.body as AuthResult;
  const device = { ...headers, 'X-Device-Token': signedUp.headers.get('x-device-token')! };
  const enrollment: NewMfaEnrollment = await api.send('POST', '/mfa/enroll', { token, body: {} });
  await api.send('POST', '/mfa/verify', { token, body: { code: codeOf(enrollment.secret!) } });
  const { devices } = await api.send('GET', '/devices', { token });
  await api.send('PATCH', `/devices/${devices[0].id}/trust`, { token });
  await server.db.sql`delete from auth.messages where recipient = ${email}`;
  await server.db.sql`delete from auth.security_notices where user_id = ${user.id}`;
  const [secret, codes] = [enrollment.secret!, enrollment.recovery_codes];
  return { id: user.id, email, token, device, deviceId: devices[0].id, secret, codes };
}

const trusts = async ({ id }: Pick<Owner, 'id'>) =>
  (await server.db.sql`select from auth.devices where user_id = ${id} and trusted_until > now()`).length;
const noticesTo = async (email: string) =>
  (await messagesTo(server.db.sql, email)).filter(({ kind }) => kind === 'security_notice');

async function resetToken(email: string): Promise<string> {
  await api.send('POST', '/forgot-password', { token: null, body: { email, app_id: 'default' } });
  await expect.poll(() => api.message(email, 'reset_password').catch(() => undefined)).toBeDefined();
  return (await api.message(email, 'reset_password')).token!;
}

it('a trusted device gives no second factor until the password is reset; then it does', async () => {
  const owner = await trustful();
  expect((await signin(owner.email, owner.device)).body).toHaveProperty('session_token');
  const token = await resetToken(owner.email);
  await api.send('POST', '/reset-password', { token: null, body: { token, new_password: next } });
  const answer = await signin(owner.email, owner.device, next);
  expect([answer.status, answer.body]).toMatchObject([200, { mfa_required: true }]);
});

const changes: [name: string, subject: string | null, make: (owner: Owner) => Promise<unknown>][] = [
  [
    'a reset of the password',
    'Your password was reset (Default app)',
    async ({ email }) => {
      const token = await resetToken(email);
      await api.send('POST', '/reset-password', { token: null, body: { token, new_password: next } });
    },
  ],
  [
    'another password',
    'Your password was changed (Default app)',
    ({ token }) =>
      api.send('POST', '/change-password', {
        token,
        body: { current_password: password, new_password: next },
      }),
  ],
  [
    'another second factor',
    'A second factor was set up (Default app)',
    async ({ token }) => {
      const phone = newPhone();
      await api.send('POST', '/mfa/enroll', { token, body: { method: 'sms', phone } });
      const { code } = await api.message(phone, 'mfa_code');
      await api.send('POST', '/mfa/verify', { token, body: { method: 'sms', code } });
    },
  ],
  [
    'the end of a second factor',
    'A second factor was removed (Default app)',
    ({ token }) => api.send('DELETE', '/mfa/enrollment', { token }),
  ],
  [
    'the end of all factors by an administrator',
    'Your second factors were removed (Default app)',
    ({ id }) => api.send('DELETE', `/users/${id}/mfa`),
  ],
  [
    'a recovery code in place of a factor',
    'A recovery code was used (Default app)',
    async ({ email, codes }) => {
      const { body } = await signin(email, { 'User-Agent': firefox });
      const answer = { challenge_token: body.challenge_token, method: 'recovery', code: codes[0] };
      await api.send('POST', '/mfa/challenge', {
        token: null,
        headers: { 'User-Agent': firefox },
        body: answer,
      });
    },
  ],
  [
    'a recovery code as a proof',
    'A recovery code was used (Default app)',
    ({ token, codes }) =>
      api.send('POST', '/me/reauthenticate', { token, body: { method: 'recovery', code: codes[1] } }),
  ],
  ['a ban', null, ({ id }) => api.send('POST', `/users/${id}/ban`)],
];

it.each(changes)(
  '%s takes trust from all devices, and the owner is told once',
  async (_name, subject, make) => {
    const owner = await trustful();
    expect(await trusts(owner)).toBe(1);
    await make(owner);
    expect(await trusts(owner)).toBe(0);
    expect((await noticesTo(owner.email)).map((notice) => notice.subject)).toEqual(
      subject === null ? [] : [subject],
    );
  },
);

it('new recovery codes are told, and devices stay trusted', async () => {
  const owner = await trustful();
  await api.send('POST', '/mfa/recovery-codes/regenerate', { token: owner.token });
  expect(await trusts(owner)).toBe(1);
  const [notice] = await noticesTo(owner.email);
  expect(notice?.subject).toBe('Your recovery codes were replaced (Default app)');
});

it('another address is told to both, and only the new one gets a link that works', async () => {
  const owner = await trustful();
  const email = newEmail();
  await api.send('PATCH', `/users/${owner.id}`, { body: { email } });
  expect(await trusts(owner)).toBe(0);
  const [[before], [after]] = [await noticesTo(owner.email), await noticesTo(email)];
  expect([before?.subject, after?.subject]).toEqual(
    Array.from({ length: 2 }, () => 'Your email address was changed (Default app)'),
  );
  expect(before?.text).toContain('contact the people who run Default app at once');
  expect(before?.text).not.toContain(email);
  expect(before?.text).not.toContain('/pages/');
  expect(after?.text).toContain('/pages/forgot-password?app_id=default');
  expect(after?.text).toContain('Changed by: the administrators of Default app');
});

it('a notice says when and from where, and what to do', async () => {
  const { email, token } = await trustful();
  await api.send('POST', '/change-password', {
    token,
    headers: { 'User-Agent': safari },
    body: { current_password: password, new_password: next },
  });
  const [notice] = await noticesTo(email);
  expect(notice?.text).toMatch(/^Time: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
  expect(notice?.text).toContain('\nDevice: Safari on macOS\nIP address: 127.0.0.1\n');
  const link = /http\S+forgot-password\S+/.exec(notice!.text)![0];
  expect(notice?.html).toContain(`href="${link}"`);
  const { pathname, search } = new URL(link);
  expect((await server.request('GET', pathname + search, { token: null })).status).toBe(200);
});

it('trust that is given while the password is reset does not outlive it', async () => {
  const owner = await trustful();
  for (let round = 0; round < 5; round++) {
    const token = await resetToken(owner.email);
    const session = (await signin(owner.email, owner.device, round === 0 ? password : `${next} ${round}`))
      .body;
    await server.db.sql`delete from auth.messages where recipient = ${owner.email}`;
    const own = 'session_token' in session ? session.session_token : owner.token;
    await Promise.all([
      api.send('POST', '/reset-password', {
        token: null,
        body: { token, new_password: `${next} ${round + 1}` },
      }),
      server.request('PATCH', `/auth/v1/auth/devices/${owner.deviceId}/trust`, { token: own }),
    ]);
    expect(await trusts(owner)).toBe(0);
    // The next round begins with a device that is trusted again.
    await server.db.sql`
      update auth.devices set trusted_until = now() + interval '1 day' where id = ${owner.deviceId}`;
  }
});

describe('a sign-in', () => {
  const account = async () => {
    const { email } = await api.user({ password });
    return email!;
  };

  it('on a new device is told; the first one, and those on a known device, are not', async () => {
    const email = await account();
    await signin(email, { 'User-Agent': firefox });
    await signin(email, { 'User-Agent': firefox });
    expect(await noticesTo(email)).toHaveLength(0);
    await signin(email, { 'User-Agent': safari });
    await signin(email, { 'User-Agent': safari });
    const [notice, ...others] = await noticesTo(email);
    expect(others).toHaveLength(0);
    expect(notice?.subject).toBe('New sign-in (Default app)');
    expect(notice?.text).toContain('Device: Safari on macOS');
  });

  it('is told though all devices were forgotten', async () => {
    const email = await account();
    const { session_token: token } = (await signin(email, { 'User-Agent': firefox })).body;
    const { devices } = await api.send('GET', '/devices', { token });
    await api.send('DELETE', `/devices/${devices[0].id}`, { token });
    await signin(email, { 'User-Agent': firefox });
    expect(await noticesTo(email)).toHaveLength(1);
  });

  it('cannot fill a mailbox, also when many come at once, and the last notice says so', async () => {
    const email = await account();
    await signin(email, { 'User-Agent': firefox });
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, n) => signin(email, { 'User-Agent': `Robot${n}` })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const notices = await noticesTo(email);
    expect(notices).toHaveLength(mostNotices);
    expect(notices.filter(({ text }) => text.includes('within the next hour'))).toHaveLength(1);
    // Another kind of change is still reported, and so is this one after an hour.
    const { session_token: token } = (await signin(email, { 'User-Agent': firefox })).body;
    await api.send('POST', '/change-password', {
      token,
      body: { current_password: password, new_password: next },
    });
    await server.db.sql`
      update auth.security_notices set began_at = began_at - interval '61 minutes' where kind = 'new_device'`;
    await signin(email, { 'User-Agent': 'Robot99' }, next);
    expect(await noticesTo(email)).toHaveLength(mostNotices + 2);
  });

  it('puts nothing of its own into the notice', async () => {
    const email = await account();
    await signin(email, { 'User-Agent': firefox });
    await signin(email, { 'User-Agent': 'https://evil.example.com/win 1.0 (evil.example.com)' });
    const [notice] = await noticesTo(email);
    expect(notice?.text).not.toContain('evil');
    expect(notice?.html).not.toContain('evil');
  });
});

it('an account without an address is told nothing', async () => {
  const { id } = await api.send('POST', '/users', { body: { username: `u${Date.now()}`, password } });
  await api.send('POST', `/users/${id}/ban`);
  await api.send('DELETE', `/users/${id}/mfa`);
  expect(await server.db.sql`select from auth.messages where user_id = ${id}`).toHaveLength(0);
});
