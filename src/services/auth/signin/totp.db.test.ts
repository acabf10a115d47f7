import { Secret } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MfaChallenge, NewMfaEnrollment } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { codeOf } from '../testing/factors.ts';
import { password, tools } from '../testing/index.ts';
import { mfaTools, refused, wrongCodeOf } from '../testing/mfa.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = tools(server);
});
afterAll(() => server.close());

const { post, refusal, verify, list, withTotp, signin, challenged, answer, events, forgetSteps } = mfaTools(
  () => server,
);

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
