import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newPhone, otherApp, tools } from '../testing/index.ts';
import { messagesTo } from '../testing/messages.store.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = tools(server);
});
afterAll(() => server.close());

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  server.request('POST', `/auth/v1/auth/phone${path}`, { token: null, body, headers });
const refusal = (path: string, body: object) => api.refusal('POST', `/phone${path}`, { token: null, body });
const refused = [401, 'invalid credentials'];

/** Sends a code and reads it. */
async function codeFor(phone: string): Promise<string> {
  const { status, text } = await post('/send-code', { phone });
  if (status !== 200) throw new Error(text);
  return (await api.message(phone, 'phone_code')).code!;
}
const otherThan = (code: string) => (code === '000000' ? '111111' : '000000');
const usersOf = (phone: string) =>
  server.db.sql<{ id: string }[]>`select id from auth.users where phone = ${phone}`;

describe('a number that is new', () => {
  it('opens an account of the app default; the next time it is known', async () => {
    const phone = newPhone();
    const sent = await post('/send-code', { phone });
    expect([sent.status, sent.body]).toEqual([200, { status: 'code_sent', expires_at: expect.any(String) }]);
    const minutes = (Date.parse(sent.body.expires_at) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(4);
    expect(minutes).toBeLessThanOrEqual(5.1);
    const message = await api.message(phone, 'phone_code');
    expect(message).toMatchObject({
      app_id: 'default',
      channel: 'sms',
      to: phone,
      state: 'sent',
      token: null,
    });

    const first = await post('/verify', { phone, code: message.code });
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(first.headers.get('x-device-token')).toMatch(/^dvt_/);
    expect(first.body).toEqual({
      user: expect.objectContaining({
        app_id: 'default',
        email: null,
        username: null,
        name: null,
        phone,
        phone_verified: true,
        metadata: {},
      }),
      session_token: expect.stringMatching(/^pst_/),
      refresh_token: expect.stringMatching(/^prt_/),
      expires_at: expect.any(String),
      is_new_user: true,
    });
    const again = await post('/verify', { phone, code: await codeFor(phone) });
    expect(again.body).toMatchObject({ user: { id: first.body.user.id }, is_new_user: false });
    const { id } = first.body.user;
    const events = await server.db.sql<{ type: string; actor: string }[]>`
      select type, actor from auth.outbox where subject = ${id} order by seq`;
    expect(events).toEqual([
      { type: 'user.created', actor: id },
      { type: 'auth.signin', actor: id },
      { type: 'auth.signin', actor: id },
    ]);
    const [role] = await server.db.sql`
      select roles.slug from auth.assignments join auth.roles on roles.id = assignments.role_id
      where assignments.user_id = ${id}`;
    expect(role).toEqual({ slug: 'user' });
  });

  it('twenty at once open one account', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/verify', { phone, code })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    // A used code counts as wrong, and after five of them the number has to wait.
    expect(statuses.slice(1).filter((status) => ![401, 429].includes(status))).toEqual([]);
    expect(await usersOf(phone)).toHaveLength(1);
  });

  it('has to answer the active form, and may do so with the same code', async () => {
    const field = { key: 'company', label: 'Company', type: 'text', validation: { required: true } };
    const { id } = await api.send('POST', '/forms', { body: { fields: [field], active: true } });
    try {
      const phone = newPhone();
      const code = await codeFor(phone);
      expect(await refusal('/verify', { phone, code: otherThan(code) })).toEqual(refused);
      const bare = await post('/verify', { phone, code });
      expect([bare.status, bare.body]).toEqual([
        400,
        expect.objectContaining({
          reason: 'form_invalid',
          details: [expect.objectContaining({ field: 'metadata.company' })],
        }),
      ]);
      expect(await usersOf(phone)).toEqual([]);
      const answered = await post('/verify', { phone, code, metadata: { company: ' Analytical Engines ' } });
      expect([answered.status, answered.body.user.metadata]).toEqual([
        200,
        { company: 'Analytical Engines' },
      ]);
      const again = await post('/verify', { phone, code: await codeFor(phone) });
      expect([again.status, again.body.user.metadata]).toEqual([200, { company: 'Analytical Engines' }]);
    } finally {
      await api.send('DELETE', `/forms/${id}`);
    }
  });

  it('has metadata within its bounds', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    const metadata = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`m${n}`, n]));
    expect(await refusal('/verify', { phone, code, metadata })).toEqual([
      400,
      'metadata: must have at most 64 members',
    ]);
  });

  it('opens none where the app takes no sign-ups; known ones still get in', async () => {
    const [known, phone] = [newPhone(), newPhone()];
    const app = await otherApp(server);
    const sent = async (to: string) => {
      await post('/send-code', { phone: to, app_id: app.id });
      const message = (await messagesTo(server.db.sql, to)).at(-1)!;
      return { phone: to, code: message.code!, app_id: app.id };
    };
    expect((await post('/verify', await sent(known))).status).toBe(200);
    await server.db.sql`
      update auth.apps set settings = settings || '{"signup_enabled": false}' where id = ${app.id}`;
    await server.restart();
    expect(await refusal('/verify', await sent(phone))).toEqual([
      403,
      'sign-up is disabled',
      'signup_disabled',
    ]);
    expect((await post('/verify', await sent(known))).status).toBe(200);
    expect(await usersOf(phone)).toEqual([]);
  });
});

describe('a code', () => {
  it('is of one number and one app', async () => {
    const [phone, other] = [newPhone(), newPhone()];
    const code = await codeFor(phone);
    const app = await otherApp(server);
    expect(await refusal('/verify', { phone: other, code })).toEqual(refused);
    expect(await refusal('/verify', { phone, code, app_id: app.id })).toEqual(refused);
    expect((await post('/verify', { phone, code, app_id: 'default' })).status).toBe(200);
  });

  it('is void after five wrong ones, also at once', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    const wrong = { phone, code: otherThan(code) };
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/verify', wrong)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![401, 429].includes(status))).toEqual([]);
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(5);
    expect((await refusal('/verify', { phone, code }))[2]).toBe('throttled');
    await server.db.sql`delete from auth.throttles`;
    expect(await refusal('/verify', { phone, code })).toEqual(refused);
    expect((await post('/verify', { phone, code: await codeFor(phone) })).status).toBe(200);
  });

  it('is void with time and with a newer one', async () => {
    const phone = newPhone();
    const first = await codeFor(phone);
    const second = await codeFor(phone);
    if (first !== second) expect(await refusal('/verify', { phone, code: first })).toEqual(refused);
    await server.db.sql`
      update auth.one_time set expires_at = now() - interval '1 second' where purpose = 'phone_signin'`;
    expect(await refusal('/verify', { phone, code: second })).toEqual(refused);
  });

  it('is stored as nothing that tells it or the number', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    const [stored] = await server.db.sql<[{ text: string }]>`
      select string_agg(one_time::text, ' ') || (select string_agg(quotas::text, ' ') from auth.quotas) as text
      from auth.one_time`;
    expect(stored.text).not.toContain(phone.slice(1));
    expect(stored.text).not.toContain(`,${code},`);
  });

  it('three go to a number in ten minutes and ten a day, however many ask at once', async () => {
    const phone = newPhone();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/send-code', { phone })));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      200,
      200,
      ...Array<number>(17).fill(429),
    ]);
    const late = answers.find(({ status }) => status === 429)!;
    expect(late.body).toEqual({
      error: 'too many attempts',
      code: 'RATE_LIMITED',
      reason: 'too_many_attempts',
    });
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(500);
    // As if these three and seven more had been sent in the last ten hours.
    await server.db.sql`
      update auth.quotas
      set counts = '{0,1,2,2,2,3,0,0,0,0,0}',
        slot = floor(extract(epoch from now()) * 1000 / sub_ms)
      where counts[1] + counts[2] = 3 and sub_ms = 8640000`;
    await server.db.sql`delete from auth.quotas where sub_ms = 60000`;
    const nextDay = await post('/send-code', { phone });
    expect(nextDay.status).toBe(429);
    expect(Number(nextDay.headers.get('retry-after'))).toBeGreaterThanOrEqual(12 * 3_600);
  });
});

describe('signing in', () => {
  it('waits for an authenticator app, and for no second text', async () => {
    const phone = newPhone();
    const { session_token: token, user } = (await post('/verify', { phone, code: await codeFor(phone) }))
      .body;
    await api.send('POST', '/mfa/enroll', { token, body: { method: 'sms', phone } });
    const { code } = await api.message(phone, 'mfa_code');
    await api.send('POST', '/mfa/verify', { token, body: { code } });
    await server.db.sql`delete from auth.quotas`;
    expect((await post('/verify', { phone, code: await codeFor(phone) })).body.session_token).toBeDefined();
    const { secret } = await api.send('POST', '/mfa/enroll', { token, body: {} });
    const totp = (steps: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });
    await api.send('POST', '/mfa/verify', { token, body: { code: totp(0) } });
    const challenge = (await post('/verify', { phone, code: await codeFor(phone) })).body;
    expect(challenge).toEqual({
      mfa_required: true,
      challenge_token: expect.stringMatching(/^chall_/),
      methods: ['totp', 'recovery'],
      expires_at: expect.any(String),
    });
    const { challenge_token } = challenge;
    const answered = await api.send('POST', '/mfa/challenge', {
      token: null,
      body: { challenge_token, method: 'totp', code: totp(1) },
    });
    expect(answered.user.id).toBe(user.id);
  });

  it('is nothing for who is banned, and proves a number that was not', async () => {
    const phone = newPhone();
    const { user } = (await post('/verify', { phone, code: await codeFor(phone) })).body;
    await server.db.sql`update auth.users set banned = true, phone_verified = false where id = ${user.id}`;
    expect(await refusal('/verify', { phone, code: await codeFor(phone) })).toEqual([
      403,
      'user is banned',
      'user_banned',
    ]);
    await server.db.sql`update auth.users set banned = false where id = ${user.id}`;
    const { body } = await post('/verify', { phone, code: await codeFor(phone) });
    expect(body.user).toMatchObject({ id: user.id, phone_verified: true });
  });

  it('takes the app of a publishable key', async () => {
    const phone = newPhone();
    const [{ key }] = await server.db.sql<[{ key: string }]>`
      select key from auth.publishable_keys where app_id = 'default' limit 1`;
    const headers = { 'x-publishable-key': key };
    expect((await post('/send-code', { phone }, headers)).status).toBe(200);
    expect((await post('/send-code', { phone, app_id: 'other' }, headers)).body.error).toBe(
      'app_id does not match publishable key',
    );
    expect(
      (await post('/verify', { phone, code: '000000' }, { 'x-publishable-key': 'pk_x' })).body.error,
    ).toBe('unknown publishable key');
    expect(await refusal('/send-code', { phone, app_id: 'nope' })).toEqual([400, 'unknown app_id']);
  });

  it.each<[name: string, body: object, error: RegExp]>([
    ['no number', { code: '1' }, /phone/],
    ['a number of no region', { phone: '+1999999999', code: '1' }, /^phone: must be a valid number/],
    ['a number as it is dialled', { phone: '030901820', code: '1' }, /phone/],
    ['a number with a null byte', { phone: '+4930901820\0', code: '1' }, /phone/],
    ['an unknown member', { phone: '+4930901820', code: '1', more: 1 }, /more/],
  ])('refuses %s', async (_name, body, error) => {
    expect(await refusal('/verify', body)).toEqual([400, expect.stringMatching(error)]);
    const { code: _code, ...sent } = body as { code: string };
    expect(await refusal('/send-code', sent)).toEqual([400, expect.stringMatching(error)]);
  });
});
