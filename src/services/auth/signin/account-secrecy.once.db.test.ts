/** No password and no token appears in a log line, an error, an event or a row; requests are limited by address if that is on. */
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestResponse, type TestServer } from '../../../testing/server.ts';
import { newEmail, newPhone, newSlug, tools } from '../testing/index.ts';
import { messagesTo } from '../testing/messages.store.ts';

const password = 'correct horse battery staple';
const next = 'seven brass wheels turning';

let server: TestServer;
const lines: string[] = [];
const refused: string[] = [];
beforeAll(async () => {
  server = await testServer({
    services: ['auth'],
    env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1', PLINTH_AUTH_RATE_LIMIT: 'on' },
    trustedProxy: ['127.0.0.1'],
    log: { write: (line) => void lines.push(line) },
  });
});
afterAll(() => server.close());

const post = async (
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  token: string | null = null,
): Promise<TestResponse> => {
  const answer = await server.request('POST', `/auth/v1/auth${path}`, { token, body, headers });
  if (answer.status >= 300) refused.push(`${path}: ${answer.text} ${JSON.stringify([...answer.headers])}`);
  return answer;
};

/** Every row of every table of the service, as text. */
async function rows(): Promise<string[]> {
  const { sql } = server.db;
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('auth', 'plinth')`;
  const found: string[] = [];
  for (const { name } of tables)
    for (const { text } of await sql<{ text: string }[]>`select t::text as text from ${sql.unsafe(name)} t`)
      found.push(`${name}: ${text}`);
  return found;
}

it('secrets are in the one answer that makes them, and in messages on their way, which are sealed', async () => {
  const email = newEmail();
  const body = { email, password, app_id: 'default' };
  const signedUp = await post('/signup', body, { 'idempotency-key': 'once' });
  expect(signedUp.status).toBe(201);
  expect((await post('/signup', body, { 'idempotency-key': 'once' })).status).toBe(409);
  const device = signedUp.headers.get('x-device-token')!;
  const refreshed = await post(
    '/refresh',
    { refresh_token: signedUp.body.refresh_token },
    { 'idempotency-key': 'r' },
  );
  await post('/refresh', { refresh_token: signedUp.body.refresh_token });
  await post('/refresh', {
    refresh_token: refreshed.body.refresh_token,
    bogus: refreshed.body.refresh_token,
  });
  await post('/signin', { ...body, password: next }, { 'x-device-token': device });
  await post('/signin', `{"password": "${password}"`);
  await post('/signin', { ...body, password: { password } });
  await post('/signup', { ...body, email: password, name: password });
  const signedIn = await post('/signin', body, { 'x-device-token': device });
  await post(
    '/change-password',
    { current_password: next, new_password: password },
    {},
    signedIn.body.session_token,
  );
  await post('/forgot-password', { email, app_id: 'default' });
  const sent = () => messagesTo(server.db.sql, email);
  await expect.poll(async () => (await sent()).length).toBe(2);
  const tokens = (await sent()).map(({ token }) => token!);
  await post('/reset-password', { token: tokens[1], new_password: 'password' });
  await post('/reset-password', { token: tokens[1], new_password: next });
  await post('/reset-password', { token: tokens[1], new_password: next });
  await post('/verify-email', { token: `${tokens[0]}x` });

  const secrets = [password, next, device, ...tokens];
  for (const answer of [signedUp, refreshed, signedIn])
    secrets.push(answer.body.session_token, answer.body.refresh_token);
  expect(secrets.every((secret) => secret.length > 20)).toBe(true);
  expect(lines.length).toBeGreaterThan(10);
  for (const text of [...lines, ...refused, ...(await rows())])
    for (const secret of secrets) expect(text.includes(secret), `${secret} in ${text}`).toBe(false);
});

it('nor are those of factors, phones, invitations, webhooks and impersonations in what is listed or told', async () => {
  const api = tools(server);
  const { user, session_token: token, refresh_token } = await api.signUp();
  const as = { token };
  const answers: unknown[] = [];
  const list = async (path: string, options = {}) => answers.push(await api.send('GET', path, options));

  const webhook = await api.send('POST', '/webhooks', {
    body: { url: 'http://127.0.0.1:4999/', events: ['*'] },
  });
  const rotated = await api.send('POST', `/webhooks/${webhook.id}/rotate-secret`);
  await api.send('POST', `/webhooks/${webhook.id}/test`);

  const enrollment = await api.send('POST', '/mfa/enroll', { ...as, body: {} });
  const totp = new TOTP({ secret: Secret.fromBase32(enrollment.secret) });
  await api.send('POST', '/mfa/verify', { ...as, body: { code: totp.generate() } });
  const newCodes = await api.send('POST', '/mfa/recovery-codes/regenerate', as);
  const signin = { email: user.email, password, app_id: 'default' };
  const challenge = await api.send('POST', '/signin', { token: null, body: signin });
  const { challenge_token } = challenge;
  const recovery = { challenge_token, method: 'recovery' };
  await post('/mfa/challenge', { ...recovery, code: enrollment.recovery_codes[0] });
  const signedIn = await api.send('POST', '/mfa/challenge', {
    token: null,
    body: { ...recovery, code: newCodes[0] },
  });

  const phone = newPhone();
  await api.send('POST', '/phone/send-code', { token: null, body: { phone } });
  const { code } = await api.message(phone, 'phone_code');
  await post('/phone/verify', { phone, code: code === '000000' ? '111111' : '000000' });
  const byPhone = await api.send('POST', '/phone/verify', { token: null, body: { phone, code } });

  const organization = await api.send('POST', '/organizations', {
    ...as,
    body: { name: 'Org', slug: newSlug() },
  });
  const invitedEmail = newEmail();
  const invitations = `/organizations/${organization.id}/invitations`;
  await api.send('POST', invitations, { ...as, body: { email: invitedEmail } });
  const invitation = await api.message(invitedEmail, 'invitation');
  await post('/invitations/accept', { token: invitation.token }, {}, signedIn.session_token);
  const impersonation = await api.send('POST', '/admin/impersonate', { body: { target_user_id: user.id } });

  for (const path of ['/me', '/me/export', '/sessions', '/devices', '/mfa/enrollments', invitations])
    await list(path, as);
  for (const path of [
    '/users',
    `/users/${user.id}/sessions`,
    '/webhooks',
    `/webhooks/${webhook.id}/deliveries`,
  ])
    await list(path);

  const secrets: string[] = [
    ...[enrollment.secret, ...enrollment.recovery_codes, ...newCodes, challenge_token],
    ...[token, refresh_token, webhook.secret, rotated.secret, invitation.token],
    ...[signedIn, byPhone, impersonation].flatMap((one) => [one.session_token, one.refresh_token]),
  ];
  expect(secrets.every((secret) => secret.length >= 14)).toBe(true);
  const told = [...lines, ...refused, ...(await rows()), ...answers.map((answer) => JSON.stringify(answer))];
  expect(told.some((text) => text.startsWith('auth.deliveries') && text.includes(user.id))).toBe(true);
  for (const text of told) {
    for (const secret of secrets) expect(text.includes(secret), `${secret} in ${text}`).toBe(false);
    // Six digits also occur in longer numbers.
    expect(text).not.toMatch(new RegExp(`(?<![0-9a-z.])${code}(?![0-9a-z])`));
  }
});

describe('limits by address', () => {
  it('429 with Retry-After, for that address and operation only', async () => {
    const from = (ip: string) =>
      post('/forgot-password', { email: newEmail(), app_id: 'default' }, { 'x-forwarded-for': ip });
    const answers = [];
    for (let n = 0; n < 6; n += 1) answers.push(await from('198.51.100.1'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(Number(answers[5]!.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answers[5]!.body).toEqual({ error: 'too many requests', code: 'RATE_LIMITED' });
    expect((await from('198.51.100.2')).status).toBe(200);
    const resend = await post(
      '/verify-email/resend',
      { email: newEmail(), app_id: 'default' },
      { 'x-forwarded-for': '198.51.100.1' },
    );
    expect(resend.status).toBe(200);
  });

  it('every public operation has one', async () => {
    const most = {
      '/signup': 20,
      '/signin': 30,
      '/refresh': 60,
      '/reset-password': 30,
      '/verify-email/resend': 5,
    };
    const body: Record<string, object> = {
      '/signup': { email: 'ada@example.com', password: 'password', app_id: 'default' },
      '/signin': { username: 'nobody', password: 'x', app_id: 'default' },
      '/refresh': { refresh_token: 'x' },
      '/reset-password': { token: 'x', new_password: next },
      '/verify-email/resend': { email: 'ada@example.com', app_id: 'default' },
    };
    for (const [path, count] of Object.entries(most)) {
      const answers = await Promise.all(
        Array.from({ length: count + 5 }, () =>
          post(path, body[path], { 'x-forwarded-for': '198.51.100.9' }),
        ),
      );
      const limited = answers.filter(({ body }) => body.error === 'too many requests');
      expect([path, limited.length]).toEqual([path, 5]);
    }
  });
});
