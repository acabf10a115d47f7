import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const { post, refusal, enroll, verify, list, withTotp, withSms, challenged, answer, forgetTexts } = mfaTools(
  () => server,
);

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
    expect((await refusal('/mfa/verify', { code }, session_token))[2]).toBe('throttled');
    await server.db.sql`delete from auth.throttles`;
    expect(await refusal('/mfa/verify', { code }, session_token)).toEqual(refused);
  });
});
