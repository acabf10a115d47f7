import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  AuthResult,
  MfaChallenge,
  MfaEnrollment,
  NewMfaEnrollment,
} from '../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newPhone, tools } from './testing.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const password = 'correct horse battery staple';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = tools(server);
});
afterAll(() => server.close());

const post = (path: string, body?: object, token: string | null = null) =>
  server.request('POST', `/auth/v1/auth${path}`, { token, body });
const refusal = (path: string, body?: object, token: string | null = null) =>
  api.refusal('POST', path, { token, body });
const refused = [401, 'invalid credentials'];

/** The code of an authenticator app, some steps of 30 seconds from now. */
const codeOf = ({ secret }: Pick<NewMfaEnrollment, 'secret'>, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret!) }).generate({ timestamp: Date.now() + steps * 30_000 });
/** A code of the right form that none of the next or last steps has. */
const wrongCodeOf = (enrollment: Pick<NewMfaEnrollment, 'secret'>) => {
  const near = [-2, -1, 0, 1, 2].map((steps) => codeOf(enrollment, steps));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code))!;
};
/** Forgets which code was used last, as if time had passed. */
const forgetSteps = (userId: string) =>
  server.db.sql`update auth.enrollments set last_step = null where user_id = ${userId}`;
/** Forgets which numbers got texts, as if time had passed. */
const forgetTexts = () => server.db.sql`update auth.text_sends set sent_at = '{}'`;

const enroll = (token: string, body: object = {}): Promise<NewMfaEnrollment> =>
  api.send('POST', '/mfa/enroll', { token, body });
const verify = (token: string, body: object): Promise<MfaEnrollment> =>
  api.send('POST', '/mfa/verify', { token, body });
const list = (token: string): Promise<MfaEnrollment[]> => api.send('GET', '/mfa/enrollments', { token });

/** A user with a verified authenticator app. Its current code is used up, the next one is not. */
async function withTotp() {
  const signedUp = await api.signUp();
  const enrollment = await enroll(signedUp.session_token);
  await verify(signedUp.session_token, { code: codeOf(enrollment) });
  return { ...signedUp, enrollment };
}
/** A user with a verified phone. */
async function withSms() {
  const signedUp = await api.signUp();
  const phone = newPhone();
  const enrollment = await enroll(signedUp.session_token, { method: 'sms', phone });
  await verify(signedUp.session_token, { code: (await api.message(phone, 'mfa_code')).code });
  return { ...signedUp, enrollment, phone };
}
const signin = ({ user }: Pick<AuthResult, 'user'>): Promise<AuthResult | MfaChallenge> =>
  api.send('POST', '/signin', { token: null, body: { email: user.email, password, app_id: 'default' } });
const challenged = async (known: Pick<AuthResult, 'user'>) => {
  const result = await signin(known);
  if (!('challenge_token' in result)) throw new Error('no challenge');
  return result;
};
const answer = (challenge: MfaChallenge, method: string, code: string) =>
  post('/mfa/challenge', { challenge_token: challenge.challenge_token, method, code });

/** The events of a user, by type. */
const events = async (userId: string, type: string) =>
  (
    await server.db.sql<{ data: Record<string, unknown> }[]>`
      select data from auth.outbox where type = ${type} and subject = ${userId} order by seq`
  ).map(({ data }) => data);

describe('an authenticator app', () => {
  it('is set up with secrets that are shown once, and counts when it is verified', async () => {
    const { user, session_token } = await api.signUp();
    const created = await post('/mfa/enroll', {}, session_token);
    expect([created.status, created.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const enrollment = created.body as NewMfaEnrollment;
    const uri = `otpauth://totp/Plinth:${encodeURIComponent(user.email!)}?issuer=Plinth&secret=${enrollment.secret!}&algorithm=SHA1&digits=6&period=30`;
    expect(enrollment).toEqual({
      id: expect.stringMatching(/^mfa_/),
      method: 'totp',
      verified: false,
      phone: null,
      created_at: expect.any(String),
      last_used_at: null,
      provisioning_uri: uri,
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      recovery_codes: expect.any(Array),
    });
    expect(new Set(enrollment.recovery_codes).size).toBe(10);
    expect(await signin({ user })).toHaveProperty('session_token');

    const verified = await verify(session_token, { method: 'totp', code: codeOf(enrollment) });
    const { provisioning_uri, secret, recovery_codes, ...shown } = enrollment;
    expect(verified).toEqual({ ...shown, verified: true, last_used_at: expect.any(String) });
    expect(await list(session_token)).toEqual([verified]);
    expect(await events(user.id, 'auth.mfa_enabled')).toEqual([
      { app_id: 'default', user_id: user.id, method: 'totp' },
    ]);
    expect(provisioning_uri).toContain(secret);
    const [{ plain }] = await server.db.sql<[{ plain: number }]>`
      select position(${Buffer.from(Secret.fromBase32(secret!).bytes)}::bytea in secret_box) as plain
      from auth.enrollments where user_id = ${user.id}`;
    const [{ stored }] = await server.db.sql<[{ stored: number }]>`
      select count(*)::int as stored from auth.recovery_codes where user_id = ${user.id}`;
    expect([plain, stored]).toEqual([0, recovery_codes.length]);
  });

  it('answers a challenge, which signs in', async () => {
    const known = await withTotp();
    const challenge = await challenged(known);
    expect(challenge.methods).toEqual(['totp', 'recovery']);
    const answered = await answer(challenge, 'totp', codeOf(known.enrollment, 1));
    expect([answered.status, answered.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(answered.body).toEqual({
      user: expect.objectContaining({ id: known.user.id }),
      session_token: expect.stringMatching(/^pst_/),
      refresh_token: expect.stringMatching(/^prt_/),
      expires_at: expect.any(String),
      is_new_user: false,
    });
    expect((await list(answered.body.session_token))[0]!.verified).toBe(true);
    expect((await events(known.user.id, 'auth.signin')).map(({ method }) => method)).toEqual([
      'password',
      'totp',
    ]);
    expect(await refusal('/mfa/challenge', { ...challengeBody(challenge), code: '000000' })).toEqual(refused);
  });

  const challengeBody = ({ challenge_token }: MfaChallenge) => ({ challenge_token, method: 'totp' });

  it('is good a step early and a step late, and no further', async () => {
    const known = await withTotp();
    for (const steps of [-1, 1]) {
      await forgetSteps(known.user.id);
      expect((await answer(await challenged(known), 'totp', codeOf(known.enrollment, steps))).status).toBe(
        200,
      );
    }
    await forgetSteps(known.user.id);
    for (const steps of [-3, 3])
      expect((await answer(await challenged(known), 'totp', codeOf(known.enrollment, steps))).status).toBe(
        401,
      );
  });

  it('a code passes once, also in a race of challenges', async () => {
    const known = await withTotp();
    const code = codeOf(known.enrollment, 1);
    const challenges: MfaChallenge[] = [];
    for (let at = 0; at < 20; at++) challenges.push(await challenged(known));
    const answers = await Promise.all(challenges.map((challenge) => answer(challenge, 'totp', code)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => ![200, 401, 429].includes(status))).toEqual([]);
  });

  it('one challenge is answered once, also in a race', async () => {
    const known = await withTotp();
    const challenge = await challenged(known);
    const answers = await Promise.all(
      known.enrollment.recovery_codes.map((code) => answer(challenge, 'recovery', code)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const [{ left }] = await server.db.sql<[{ left: number }]>`
      select count(*)::int as left from auth.recovery_codes where user_id = ${known.user.id}`;
    expect(left).toBe(9);
  });

  it('five wrong codes kill the challenge', async () => {
    const known = await withTotp();
    const challenge = await challenged(known);
    const wrong = wrongCodeOf(known.enrollment);
    for (let at = 0; at < 5; at++) expect((await answer(challenge, 'totp', wrong)).status).toBe(401);
    expect(
      await refusal('/mfa/challenge', {
        challenge_token: challenge.challenge_token,
        method: 'totp',
        code: codeOf(known.enrollment, 1),
      }),
    ).toEqual(refused);
    const failed = await events(known.user.id, 'auth.signin_failed');
    expect(failed).toHaveLength(5);
    expect(failed[0]).toEqual({
      app_id: 'default',
      user_id: known.user.id,
      identifier_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('fifty wrong codes at once count as five, and then the account waits', async () => {
    const known = await withTotp();
    const challenge = await challenged(known);
    const wrong = wrongCodeOf(known.enrollment);
    const answers = await Promise.all(Array.from({ length: 50 }, () => answer(challenge, 'totp', wrong)));
    expect(answers.filter(({ status }) => ![401, 429].includes(status))).toEqual([]);
    const [{ attempts }] = await server.db.sql<[{ attempts: number }]>`
      select attempts from auth.challenges where user_id = ${known.user.id}`;
    expect(attempts).toBeLessThanOrEqual(5);
    await server.db.sql`update auth.throttles set failures = 40, last_at = now()`;
    const next = await answer(await challenged(known), 'totp', codeOf(known.enrollment, 1));
    expect([next.status, next.body.reason]).toEqual([429, 'throttled']);
    expect(Number(next.headers.get('retry-after'))).toBeGreaterThan(800);
    await server.db.sql`delete from auth.throttles`;
  });

  it("another user's code fails, and so does a challenge that is over or none", async () => {
    const [known, other] = [await withTotp(), await withTotp()];
    expect((await answer(await challenged(known), 'totp', codeOf(other.enrollment, 1))).status).toBe(401);
    const [recovery] = other.enrollment.recovery_codes;
    expect((await answer(await challenged(known), 'recovery', recovery!)).status).toBe(401);
    expect((await answer(await challenged(known), 'sms', '123456')).status).toBe(401);
    const challenge = await challenged(known);
    await server.db.sql`
      update auth.challenges set expires_at = now() - interval '1 second' where user_id = ${known.user.id}`;
    const late = {
      challenge_token: challenge.challenge_token,
      method: 'totp',
      code: codeOf(known.enrollment, 1),
    };
    expect(await refusal('/mfa/challenge', late)).toEqual(refused);
    for (const challenge_token of [
      'x',
      'chall_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf0mKcmB',
      'é',
    ]) {
      expect(await refusal('/mfa/challenge', { ...late, challenge_token })).toEqual(refused);
      expect(await refusal('/mfa/challenge/send', { challenge_token })).toEqual(refused);
    }
  });

  it('a ban and a new password come between', async () => {
    const known = await withTotp();
    const challenge = await challenged(known);
    await server.db.sql`update auth.users set banned = true where id = ${known.user.id}`;
    const body = {
      challenge_token: challenge.challenge_token,
      method: 'totp',
      code: codeOf(known.enrollment, 1),
    };
    expect(await refusal('/mfa/challenge', body)).toEqual([403, 'user is banned', 'user_banned']);
    await server.db.sql`update auth.users set banned = false where id = ${known.user.id}`;
    await api.send('POST', '/change-password', {
      token: known.session_token,
      body: { current_password: password, new_password: 'another horse battery staple' },
    });
    expect(await refusal('/mfa/challenge', body)).toEqual(refused);
  });

  it('a ban ends a sign-in that waits, also for the time after it', async () => {
    const known = await withTotp();
    const challenge = await challenged(known);
    await api.send('POST', `/users/${known.user.id}/ban`);
    const code = codeOf(known.enrollment, 1);
    expect((await answer(challenge, 'totp', code)).status).toBe(401);
    await api.send('POST', `/users/${known.user.id}/unban`);
    expect((await answer(challenge, 'totp', code)).status).toBe(401);
    expect((await answer(await challenged(known), 'totp', code)).status).toBe(200);
  });

  it.each<[name: string, body: object, error: RegExp]>([
    ['no method', { challenge_token: 'x', code: '1' }, /method/],
    ['another method', { challenge_token: 'x', code: '1', method: 'email' }, /method/],
    ['no code', { challenge_token: 'x', method: 'totp' }, /code/],
    ['a long code', { challenge_token: 'x', method: 'totp', code: '1'.repeat(33) }, /code/],
    ['no token', { method: 'totp', code: '1' }, /challenge_token/],
    ['a huge token', { challenge_token: 'x'.repeat(257), method: 'totp', code: '1' }, /challenge_token/],
    ['something unknown', { challenge_token: 'x', method: 'totp', code: '1', more: 1 }, /more/],
  ])('a challenge is not answered with %s', async (_name, body, error) => {
    expect(await refusal('/mfa/challenge', body)).toEqual([400, expect.stringMatching(error)]);
  });

  it('nonsense as a code is a wrong code', async () => {
    const known = await withTotp();
    for (const code of ['é', '２８７０８２', ' '.repeat(32)])
      expect((await answer(await challenged(known), 'totp', code)).status).toBe(401);
    await server.db.sql`delete from auth.throttles`;
    const { challenge_token } = await challenged(known);
    const answered = { challenge_token, method: 'totp' };
    expect(await refusal('/mfa/challenge', { ...answered, code: '\0' })).toEqual([
      400,
      'code: must not contain U+0000',
    ]);
    expect((await refusal('/mfa/challenge', { ...answered, code: '\ud800' }))[0]).toBe(400);
  });
});

describe('recovery codes', () => {
  it('are good once each; hyphens and case do not count', async () => {
    const known = await withTotp();
    const [first, second] = known.enrollment.recovery_codes;
    expect((await answer(await challenged(known), 'recovery', first!)).status).toBe(200);
    expect((await answer(await challenged(known), 'recovery', first!)).status).toBe(401);
    const typed = second!.replaceAll('-', '').toUpperCase();
    expect((await answer(await challenged(known), 'recovery', typed)).status).toBe(200);
  });

  it('the old set is good until the next factor is verified', async () => {
    const known = await withTotp();
    const phone = newPhone();
    const next = await enroll(known.session_token, { method: 'sms', phone });
    const [old, older] = known.enrollment.recovery_codes;
    expect((await answer(await challenged(known), 'recovery', next.recovery_codes[0]!)).status).toBe(401);
    expect((await answer(await challenged(known), 'recovery', old!)).status).toBe(200);
    await verify(known.session_token, { code: (await api.message(phone, 'mfa_code')).code });
    expect((await answer(await challenged(known), 'recovery', older!)).status).toBe(401);
    expect((await answer(await challenged(known), 'recovery', next.recovery_codes[0]!)).status).toBe(200);
  });

  it('a new set voids the old one at once', async () => {
    const known = await withTotp();
    const made = await post('/mfa/recovery-codes/regenerate', undefined, known.session_token);
    expect([made.status, made.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(made.body).toHaveLength(10);
    const [old] = known.enrollment.recovery_codes;
    expect((await answer(await challenged(known), 'recovery', old!)).status).toBe(401);
    expect((await answer(await challenged(known), 'recovery', made.body[0])).status).toBe(200);
  });

  it('there are none without a verified factor', async () => {
    const { session_token } = await api.signUp();
    expect(await refusal('/mfa/recovery-codes/regenerate', undefined, session_token)).toEqual([
      404,
      'enrollment not found',
    ]);
    await enroll(session_token);
    expect((await refusal('/mfa/recovery-codes/regenerate', undefined, session_token))[0]).toBe(404);
  });
});

describe('setting up and removing', () => {
  it('another one replaces the one that waits, and a verified one is in the way', async () => {
    const { session_token } = await api.signUp();
    const first = await enroll(session_token);
    const all = await Promise.all(Array.from({ length: 20 }, () => enroll(session_token)));
    const [waiting] = await list(session_token);
    const last = all.find(({ id }) => id === waiting!.id)!;
    expect(await refusal('/mfa/verify', { code: codeOf(first) }, session_token)).toEqual(refused);
    await verify(session_token, { code: codeOf(last) });
    expect(await refusal('/mfa/enroll', { method: 'totp' }, session_token)).toEqual([
      409,
      'factor already verified',
    ]);
  });

  it('one that waits is gone after an hour', async () => {
    const { user, session_token } = await api.signUp();
    const enrollment = await enroll(session_token);
    await server.db.sql`
      update auth.enrollments set created_at = now() - interval '61 minutes' where user_id = ${user.id}`;
    expect(await list(session_token)).toEqual([]);
    expect(await refusal('/mfa/verify', { code: codeOf(enrollment) }, session_token)).toEqual([
      404,
      'enrollment not found',
    ]);
  });

  it('is verified once, by one of many', async () => {
    const { user, session_token } = await api.signUp();
    const enrollment = await enroll(session_token);
    const code = codeOf(enrollment);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post('/mfa/verify', { code }, session_token)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
    expect(await events(user.id, 'auth.mfa_enabled')).toHaveLength(1);
  });

  it('with two that wait the method has to be named', async () => {
    const { session_token } = await api.signUp();
    const totp = await enroll(session_token);
    await enroll(session_token, { method: 'sms', phone: newPhone() });
    expect(await refusal('/mfa/verify', { code: codeOf(totp) }, session_token)).toEqual([
      400,
      'method: required, because two factors wait for their verification',
    ]);
    expect(await verify(session_token, { method: 'totp', code: codeOf(totp) })).toMatchObject({
      verified: true,
    });
    expect(await list(session_token)).toHaveLength(2);
  });

  it('removed factors are asked for no more, and the last takes the recovery codes along', async () => {
    const known = await withTotp();
    const phone = newPhone();
    await enroll(known.session_token, { method: 'sms', phone });
    await verify(known.session_token, { code: (await api.message(phone, 'mfa_code')).code });
    const remove = (query: string) =>
      server.request('DELETE', `/auth/v1/auth/mfa/enrollment${query}`, { token: known.session_token });
    expect((await remove('?method=totp')).body).toEqual({ status: 'removed' });
    expect((await challenged(known)).methods).toEqual(['sms', 'recovery']);
    expect((await remove('?method=totp')).status).toBe(404);
    expect((await remove('')).status).toBe(200);
    expect((await remove('')).status).toBe(404);
    expect(await signin(known)).toHaveProperty('session_token');
    const [{ left }] = await server.db.sql<[{ left: number }]>`
      select count(*)::int as left from auth.recovery_codes where user_id = ${known.user.id}`;
    expect(left).toBe(0);
    expect((await events(known.user.id, 'auth.mfa_disabled')).map(({ method }) => method)).toEqual([
      'totp',
      'sms',
    ]);
  });

  it.each<[name: string, body: object, error: RegExp]>([
    ['no phone', { method: 'sms' }, /^phone: required/],
    ['a number of no region', { method: 'sms', phone: '+1999999999' }, /^phone/],
    ['no number', { method: 'sms', phone: '0301234567' }, /phone/],
    ['another method', { method: 'push' }, /method/],
  ])('not with %s', async (_name, body, error) => {
    const { session_token } = await api.signUp();
    expect(await refusal('/mfa/enroll', body, session_token)).toEqual([400, expect.stringMatching(error)]);
  });

  it('takes a user: nobody else, and not somebody who acts as them', async () => {
    for (const [method, path] of [
      ['POST', '/mfa/enroll'],
      ['POST', '/mfa/verify'],
      ['DELETE', '/mfa/enrollment'],
      ['POST', '/mfa/recovery-codes/regenerate'],
      ['GET', '/mfa/enrollments'],
    ] as const) {
      const body = method === 'POST' && !path.endsWith('regenerate') ? { code: '000000' } : undefined;
      expect((await api.refusal(method, path, { token: null, body }))[0]).toBe(401);
      expect((await api.refusal(method, path, { body }))[0]).toBe(403);
    }
    const { user, session_token } = await api.signUp();
    const asUser = { headers: { 'x-user-id': user.id } };
    expect(await api.send('POST', '/mfa/enroll', { ...asUser, body: {} })).toMatchObject({ method: 'totp' });
    expect(await api.send('GET', '/mfa/enrollments', asUser)).toHaveLength(1);
    const nobody = { headers: { 'x-user-id': 'user_00000000000000000000000000' } };
    expect(await api.refusal('POST', '/mfa/enroll', { ...nobody, body: {} })).toEqual([401, 'unknown user']);
    await server.db.sql`update auth.sessions set impersonated_by = 'root' where user_id = ${user.id}`;
    const impersonated = [403, 'not while impersonating', 'impersonated'];
    expect(await refusal('/mfa/enroll', {}, session_token)).toEqual(impersonated);
    expect(await refusal('/mfa/verify', { code: '000000' }, session_token)).toEqual(impersonated);
    expect(await refusal('/mfa/recovery-codes/regenerate', undefined, session_token)).toEqual(impersonated);
    expect(await api.refusal('DELETE', '/mfa/enrollment', { token: session_token })).toEqual(impersonated);
  });
});

describe('a phone as second factor', () => {
  it('is proved by a code, and asked at sign-in, which sends one', async () => {
    const signedUp = await api.signUp();
    const phone = newPhone();
    const enrollment = await enroll(signedUp.session_token, { method: 'sms', phone });
    expect(enrollment).toMatchObject({
      method: 'sms',
      phone: `+49*****${phone.slice(-4)}`,
      provisioning_uri: null,
      secret: null,
    });
    expect(enrollment.recovery_codes).toHaveLength(10);
    const { code, text, subject, channel, state } = await api.message(phone, 'mfa_code');
    expect([code, subject, channel, state]).toEqual([expect.stringMatching(/^\d{6}$/), '', 'sms', 'sent']);
    expect(text).toContain(code);
    expect(await verify(signedUp.session_token, { method: 'sms', code })).toMatchObject({ verified: true });
    const challenge = await challenged(signedUp);
    expect(challenge.methods).toEqual(['sms', 'recovery']);
    const sent = await api.message(phone, 'mfa_code');
    expect((await answer(await challenged(signedUp), 'sms', sent.code!)).status).toBe(401);
    expect((await answer(challenge, 'sms', sent.code!)).status).toBe(200);
    expect((await list(signedUp.session_token))[0]!.last_used_at).not.toBeNull();
  });

  it('beside an authenticator app the code is sent when it is asked for, and a newer one voids it', async () => {
    const known = await withSms();
    const totp = await enroll(known.session_token);
    await verify(known.session_token, { code: codeOf(totp) });
    await forgetTexts();
    const challenge = await challenged(known);
    expect(challenge.methods).toEqual(['totp', 'sms', 'recovery']);
    const before = await api.message(known.phone, 'mfa_code');
    const { challenge_token } = challenge;
    const sent = await post('/mfa/challenge/send', { challenge_token });
    expect([sent.status, sent.body]).toEqual([200, { status: 'code_sent', expires_at: expect.any(String) }]);
    const first = await api.message(known.phone, 'mfa_code');
    expect(first.id).not.toBe(before.id);
    expect(Date.parse(sent.body.expires_at)).toBeLessThanOrEqual(Date.parse(challenge.expires_at));
    await post('/mfa/challenge/send', { challenge_token });
    const second = await api.message(known.phone, 'mfa_code');
    if (first.code !== second.code) expect((await answer(challenge, 'sms', first.code!)).status).toBe(401);
    await server.db.sql`
      update auth.challenges set code_expires_at = now() - interval '1 second' where user_id = ${known.user.id}`;
    expect((await answer(challenge, 'sms', second.code!)).status).toBe(401);
    await server.db.sql`
      update auth.challenges set code_expires_at = now() + interval '1 minute' where user_id = ${known.user.id}`;
    expect((await answer(challenge, 'sms', second.code!)).status).toBe(200);
  });

  it('no code is sent to who has no phone', async () => {
    const { challenge_token } = await challenged(await withTotp());
    expect(await refusal('/mfa/challenge/send', { challenge_token })).toEqual([
      400,
      'challenge_token: its challenge is not answered by sms',
    ]);
  });

  it('three texts in ten minutes; a sign-in goes on without one', async () => {
    const known = await withSms();
    await challenged(known);
    await challenged(known);
    const challenge = await challenged(known);
    const { challenge_token } = challenge;
    const late = await post('/mfa/challenge/send', { challenge_token });
    expect([late.status, late.body.reason]).toEqual([429, 'too_many_attempts']);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(500);
    const { messages } = await api.send('GET', `/dev/outbox?to=${encodeURIComponent(known.phone)}`);
    expect(messages).toHaveLength(3);
    expect((await answer(challenge, 'recovery', known.enrollment.recovery_codes[0]!)).status).toBe(200);
  });

  it('five wrong codes void the code of a phone that waits', async () => {
    const { session_token } = await api.signUp();
    const phone = newPhone();
    await enroll(session_token, { method: 'sms', phone });
    const { code } = await api.message(phone, 'mfa_code');
    const wrong = code === '000000' ? '111111' : '000000';
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post('/mfa/verify', { code: wrong }, session_token)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(401));
    expect(await refusal('/mfa/verify', { code }, session_token)).toEqual(refused);
  });
});

describe('where a recent sign-in is asked for', () => {
  let strict: TestServer;
  beforeAll(async () => {
    strict = await testServer({ services: ['auth'], env: { ...env, PLINTH_AUTH_FRESH: '1m' } });
  });
  afterAll(() => strict.close());

  it('an old one is not enough', async () => {
    const of = tools(strict);
    const { user, session_token: token } = await of.signUp();
    await of.send('POST', '/mfa/enroll', { token, body: {} });
    await strict.db.sql`
      update auth.sessions set authenticated_at = now() - interval '2 minutes' where user_id = ${user.id}`;
    const stale = [403, 'needs a recent sign-in: see POST /me/reauthenticate', 'reauthentication_required'];
    expect(await of.refusal('POST', '/mfa/enroll', { token, body: {} })).toEqual(stale);
    expect(await of.refusal('POST', '/mfa/recovery-codes/regenerate', { token })).toEqual(stale);
    expect(await of.refusal('DELETE', '/mfa/enrollment', { token })).toEqual(stale);
    expect(await of.send('GET', '/mfa/enrollments', { token })).toHaveLength(1);
  });

  it('a code of an authenticator, or a recovery code, stands for a recent one; each once', async () => {
    const of = tools(strict);
    const { user, session_token: token } = await of.signUp();
    const enrollment: NewMfaEnrollment = await of.send('POST', '/mfa/enroll', { token, body: {} });
    await of.send('POST', '/mfa/verify', { token, body: { code: codeOf(enrollment) } });
    const prove = (method: string, code: string) => ({ token, body: { method, code } });
    const recovery = enrollment.recovery_codes[0]!;
    for (const proof of [prove('totp', codeOf(enrollment, 1)), prove('recovery', recovery)]) {
      await strict.db.sql`
        update auth.sessions set authenticated_at = now() - interval '2 minutes' where user_id = ${user.id}`;
      expect((await of.refusal('POST', '/mfa/recovery-codes/regenerate', { token }))[0]).toBe(403);
      expect(await of.send('POST', '/me/reauthenticate', proof)).toEqual({ status: 'ok' });
      expect(await of.refusal('POST', '/me/reauthenticate', proof)).toEqual(refused);
    }
    expect(await of.refusal('POST', '/me/reauthenticate', prove('sms', '123456'))).toEqual(refused);
    expect(await of.send('POST', '/mfa/recovery-codes/regenerate', { token })).toHaveLength(10);
  });
});
