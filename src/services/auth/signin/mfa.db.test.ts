import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewMfaEnrollment } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { codeOf } from '../testing/factors.ts';
import { newPhone, tools } from '../testing/index.ts';
import { mfaTools, refused } from '../testing/mfa.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = tools(server);
});
afterAll(() => server.close());

const { post, refusal, enroll, verify, list, withTotp, signin, challenged, answer, events } = mfaTools(
  () => server,
);

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
    const impersonated = [403, 'not allowed while impersonating', 'impersonated'];
    expect(await refusal('/mfa/enroll', {}, session_token)).toEqual(impersonated);
    expect(await refusal('/mfa/verify', { code: '000000' }, session_token)).toEqual(impersonated);
    expect(await refusal('/mfa/recovery-codes/regenerate', undefined, session_token)).toEqual(impersonated);
    expect(await api.refusal('DELETE', '/mfa/enrollment', { token: session_token })).toEqual(impersonated);
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
