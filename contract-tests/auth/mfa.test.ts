import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { contract, type Api } from '../harness.ts';
import { absentUser, messageTo, newEmail, newPhone, tenantWithApp } from './people.ts';

const app_id = 'default';
const unknownChallenge = 'chall_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf0mKcmB';

/** Returns a user who has signed up. */
async function signedUp(api: Api) {
  const client = api.tenant().anonymous();
  const email = `user-${randomBytes(6).toString('hex')}@example.com`;
  const body = { email, password: 'correct horse battery staple', app_id };
  const { session_token } = await client.plinth.auth.accounts.signup({ body });
  return { ...client, body, options: { headers: { authorization: `Bearer ${session_token}` } } };
}
/** Returns the code that an authenticator app shows now. */
const codeOf = (secret: string | null) =>
  new TOTP({ secret: Secret.fromBase32(secret ?? 'GEZDGNBVGY3TQOJQ') }).generate();

contract('Mfa', (api) => {
  it('a factor is set up, verified, listed and removed', async () => {
    const { plinth, options } = await signedUp(api);
    const { mfa } = plinth.auth;
    const { secret } = await mfa.enroll({ body: { method: 'totp' } }, options);
    expect(await mfa.verify({ body: { code: codeOf(secret) } }, options)).toMatchObject({ verified: true });
    expect(await mfa.regenerate({}, options)).toHaveLength(10);
    expect((await mfa.list({}, options)).length).toBeGreaterThan(0);
    expect(await mfa.remove({}, options)).toEqual({ status: 'removed' });
  });

  describe('enroll', () => {
    it('400 for sms without a phone', async () => {
      const { options, ...user } = await signedUp(api);
      await user.refused(400, 'phone: required for sms', ({ auth }) =>
        auth.mfa.enroll({ body: { method: 'sms' } }, options),
      );
    });

    it('takes no phone with a factor that sends nothing there', async () => {
      const { options, ...user } = await signedUp(api);
      await user.refused(400, 'phone: only for sms', ({ auth }) =>
        auth.mfa.enroll({ body: { method: 'totp', phone: '+4930901820' } }, options),
      );
    });

    it('409 when the factor is verified', async () => {
      const { plinth, options, ...user } = await signedUp(api);
      const { secret } = await plinth.auth.mfa.enroll({ body: {} }, options);
      await plinth.auth.mfa.verify({ body: { code: codeOf(secret) } }, options);
      await user.refused(409, 'factor already verified', ({ auth }) =>
        auth.mfa.enroll({ body: {} }, options),
      );
    });
  });

  describe('verify, remove and regenerate', () => {
    it('401 for a wrong code', async () => {
      const { plinth, options, ...user } = await signedUp(api);
      await plinth.auth.mfa.enroll({ body: {} }, options);
      await user.refused(401, 'invalid credentials', ({ auth }) =>
        auth.mfa.verify({ body: { code: 'wrong' } }, options),
      );
    });

    it('404 without a factor', async () => {
      const { options, ...user } = await signedUp(api);
      const message = 'enrollment not found';
      await user.refused(404, message, ({ auth }) => auth.mfa.verify({ body: { code: '000000' } }, options));
      await user.refused(404, message, ({ auth }) => auth.mfa.remove({}, options));
      await user.refused(404, message, ({ auth }) => auth.mfa.regenerate({}, options));
    });
  });

  describe('a factor by text message', () => {
    it('sendCode: 200 with when the code expires', async () => {
      const tenant = api.tenant();
      const { email, password, appId: app_id, ...user } = await tenant.withUser();
      const { accounts, mfa } = user.plinth.auth;
      const phone = newPhone();
      await mfa.enroll({ body: { method: 'sms', phone } });
      const { code } = await messageTo(tenant, phone, 'mfa_code');
      await mfa.verify({ body: { method: 'sms', code: code ?? '000000' } });
      const challenge = await accounts.signin({ body: { email, password, app_id } });
      const challenge_token = 'challenge_token' in challenge ? challenge.challenge_token : unknownChallenge;
      expect(await mfa.sendCode({ body: { challenge_token } })).toMatchObject({ status: 'code_sent' });
    });
  });

  describe('challenge and sendCode', () => {
    it('403 where the app has come to ask for a verified address', async () => {
      const tenant = api.tenant();
      const { email, password, appId: app_id, ...user } = await tenant.withUser();
      const { accounts, mfa } = user.plinth.auth;
      const { secret, recovery_codes } = await mfa.enroll({ body: {} });
      await mfa.verify({ body: { code: codeOf(secret) } });
      const challenge = await accounts.signin({ body: { email, password, app_id } });
      const challenge_token = 'challenge_token' in challenge ? challenge.challenge_token : unknownChallenge;
      const settings = { require_verified_email: true };
      await tenant.plinth.auth.apps.update({ appId: app_id, body: { settings } });
      await user.refused(403, 'email is not verified', ({ auth }) =>
        auth.mfa.challenge({ body: { challenge_token, method: 'recovery', code: recovery_codes[0]! } }),
      );
    });

    it('401 for a challenge that is none', async () => {
      const client = api.tenant().anonymous();
      const challenge_token = unknownChallenge;
      await client.refused(401, 'invalid credentials', ({ auth }) =>
        auth.mfa.challenge({ body: { challenge_token, method: 'totp', code: '000000' } }),
      );
      await client.refused(401, 'invalid credentials', ({ auth }) =>
        auth.mfa.sendCode({ body: { challenge_token } }),
      );
    });

    it('200: a recovery code signs in', async () => {
      const { plinth, body, options } = await signedUp(api);
      const { secret, recovery_codes } = await plinth.auth.mfa.enroll({ body: {} }, options);
      await plinth.auth.mfa.verify({ body: { code: codeOf(secret) } }, options);
      const challenge = await plinth.auth.accounts.signin({ body });
      const challenge_token = 'challenge_token' in challenge ? challenge.challenge_token : unknownChallenge;
      const answered = await plinth.auth.mfa.challenge({
        body: { challenge_token, method: 'recovery', code: recovery_codes[0]! },
      });
      expect(answered.session_token).toMatch(/^pst_/);
    });
  });
});

contract('Phone', (api) => {
  it('200 for a code that is sent', async () => {
    const { plinth } = api.tenant().anonymous();
    expect(await plinth.auth.phone.sendCode({ body: { phone: newPhone() } })).toMatchObject({
      status: 'code_sent',
    });
  });

  it('400 for a number that none is', async () => {
    const client = api.tenant().anonymous();
    await client.refused(400, 'phone: must be a valid number like +4930901820', ({ auth }) =>
      auth.phone.sendCode({ body: { phone: '+1999999999' } }),
    );
  });

  it('200 for the code that came, 403 once the user is banned', async () => {
    const tenant = await tenantWithApp(api);
    const { app_id } = await tenant.plinth.auth.users.create({ body: { email: newEmail() } });
    const client = tenant.anonymous();
    const phone = newPhone();
    const codeBy = async () => {
      await tenant.plinth.auth.outbox.clear();
      await client.plinth.auth.phone.sendCode({ body: { phone, app_id } });
      return (await messageTo(tenant, phone, 'phone_code')).code ?? '000000';
    };
    const answer = await client.plinth.auth.phone.verify({ body: { phone, code: await codeBy(), app_id } });
    const userId = 'user' in answer ? answer.user.id : absentUser;
    await tenant.plinth.auth.users.ban({ userId });
    const code = await codeBy();
    await client.refused(403, 'user is banned', ({ auth }) =>
      auth.phone.verify({ body: { phone, code, app_id } }),
    );
  });

  it('401 for a wrong code', async () => {
    const client = api.tenant().anonymous();
    await client.refused(401, 'invalid credentials', ({ auth }) =>
      auth.phone.verify({ body: { phone: newPhone(), code: 'wrong' } }),
    );
  });
});
