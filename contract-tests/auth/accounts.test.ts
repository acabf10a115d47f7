import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Api } from '../harness.ts';
import { messageTo } from './people.ts';

const password = 'correct horse battery staple';
const next = 'seven brass wheels turning';
const app_id = 'default';
const newEmail = () => `user-${randomBytes(6).toString('hex')}@example.com`;
const account = () => ({ email: newEmail(), password, app_id });
/** A well-formed token that belongs to nobody. */
const unknownToken = 'prt_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf0M6N88';

/** A client without credentials, for signing up. */
const visitor = (api: Api) => api.tenant().anonymous();
async function signedUp(api: Api) {
  const client = visitor(api);
  const body = account();
  const { session_token, refresh_token } = await client.plinth.auth.accounts.signup({ body });
  return {
    ...client,
    body,
    refresh_token,
    options: { headers: { authorization: `Bearer ${session_token}` } },
  };
}

contract('Accounts', (api) => {
  describe('signup', () => {
    it('201 with the user and the tokens', async () => {
      const answer = await visitor(api).plinth.auth.accounts.signup({ body: account() });
      expect(answer).toMatchObject({ is_new_user: true, user: { app_id } });
    });

    it('400 without app context', () =>
      visitor(api).refused(
        400,
        'app context required: send X-Publishable-Key header or app_id in the body',
        ({ auth }) => auth.accounts.signup({ body: { email: newEmail(), password } }),
      ));

    it('409 when the email is taken', async () => {
      const { body, ...user } = await signedUp(api);
      await user.refused(409, 'email already taken', ({ auth }) => auth.accounts.signup({ body }));
    });
  });

  describe('signin', () => {
    it('200 with the user and the tokens', async () => {
      const { plinth, body } = await signedUp(api);
      const answer = await plinth.auth.accounts.signin({ body });
      if (api.target === 'server') expect(answer).toMatchObject({ is_new_user: false });
    });

    it('400 without email and username', () =>
      visitor(api).refused(400, 'email: required, unless username is given', ({ auth }) =>
        auth.accounts.signin({ body: { password, app_id } }),
      ));

    it('401 for whoever is unknown', () =>
      visitor(api).refused(401, 'invalid credentials', ({ auth }) =>
        auth.accounts.signin({ body: account() }),
      ));
  });

  describe('who is kept out', () => {
    it('403 when the app takes no sign-ups', async () => {
      const tenant = api.tenant();
      const settings = { signup_enabled: false };
      const { id } = await tenant.plinth.auth.apps.create({
        body: { name: 'Closed', slug: 'closed', settings },
      });
      await tenant
        .anonymous()
        .refused(403, 'sign-up is disabled', ({ auth }) =>
          auth.accounts.signup({ body: { ...account(), app_id: id } }),
        );
    });

    it('403 when the user is banned', async () => {
      const tenant = api.tenant();
      const { id, email, password, appId: app_id } = await tenant.withUser();
      await tenant.plinth.auth.users.ban({ userId: id, body: { reason: 'spam' } });
      await tenant
        .anonymous()
        .refused(403, 'user is banned', ({ auth }) =>
          auth.accounts.signin({ body: { email, password, app_id } }),
        );
    });
  });

  describe('signout', () => {
    it('200', async () => {
      const { plinth, options } = await signedUp(api);
      expect(await plinth.auth.accounts.signout({}, options)).toEqual({ status: 'signed_out' });
    });
  });

  describe('refresh', () => {
    it('200 with the next pair', async () => {
      const { plinth, refresh_token } = await signedUp(api);
      const { session_token } = await plinth.auth.accounts.refresh({ body: { refresh_token } });
      expect(session_token).toMatch(/^pst_/);
    });

    it('400 for no token', () =>
      visitor(api).refused(400, 'refresh_token: must not be empty', ({ auth }) =>
        auth.accounts.refresh({ body: { refresh_token: '' } }),
      ));

    it('401 for an unknown token', () =>
      visitor(api).refused(401, 'invalid credentials', ({ auth }) =>
        auth.accounts.refresh({ body: { refresh_token: unknownToken } }),
      ));
  });

  describe('forgotPassword and resendVerification', () => {
    it('200 whoever has the address', async () => {
      const { plinth } = visitor(api);
      const body = { email: newEmail(), app_id };
      expect(await plinth.auth.accounts.forgotPassword({ body })).toEqual({ status: 'ok' });
      expect(await plinth.auth.accounts.resendVerification({ body })).toEqual({ status: 'ok' });
    });

    it('400 without app context', async () => {
      const body = { email: newEmail() };
      const message = 'app context required: send X-Publishable-Key header or app_id in the body';
      const client = visitor(api);
      await client.refused(400, message, ({ auth }) => auth.accounts.forgotPassword({ body }));
      await client.refused(400, message, ({ auth }) => auth.accounts.resendVerification({ body }));
    });
  });

  describe('resetPassword and verifyEmail', () => {
    it('200 by the token that came by mail', async () => {
      const tenant = api.tenant();
      const { email, appId: app_id, ...user } = await tenant.withUser();
      const { accounts } = user.plinth.auth;
      const verification = await messageTo(tenant, email, 'verify_email');
      expect(await accounts.verifyEmail({ body: { token: verification.token! } })).toEqual({
        status: 'email_verified',
      });
      await accounts.forgotPassword({ body: { email, app_id } });
      const reset = await messageTo(tenant, email, 'reset_password');
      const body = { token: reset.token!, new_password: next };
      expect(await accounts.resetPassword({ body })).toEqual({ status: 'password_reset' });
    });

    it('400 for a token that is good for nothing', async () => {
      const client = visitor(api);
      await client.refused(400, 'token: invalid or expired', ({ auth }) =>
        auth.accounts.resetPassword({ body: { token: unknownToken, new_password: next } }),
      );
      await client.refused(400, 'token: invalid or expired', ({ auth }) =>
        auth.accounts.verifyEmail({ body: { token: unknownToken } }),
      );
    });
  });

  describe('changePassword', () => {
    it('200', async () => {
      const { plinth, options } = await signedUp(api);
      const body = { current_password: password, new_password: next };
      expect(await plinth.auth.accounts.changePassword({ body }, options)).toEqual({
        status: 'password_changed',
      });
    });

    it('400 for a weak password', async () => {
      const { options, ...user } = await signedUp(api);
      await user.refused(400, 'new_password: is too common: choose several unrelated words', ({ auth }) =>
        auth.accounts.changePassword(
          { body: { current_password: password, new_password: 'password123' } },
          options,
        ),
      );
    });

    it('401 for a wrong password', async () => {
      const { options, ...user } = await signedUp(api);
      await user.refused(401, 'invalid credentials', ({ auth }) =>
        auth.accounts.changePassword({ body: { current_password: next, new_password: next } }, options),
      );
    });
  });

  describe('config', () => {
    it('200 with what a screen needs', async () => {
      const { plinth } = visitor(api);
      expect(await plinth.auth.accounts.config({ app_id })).toMatchObject({ app_id, signup_enabled: true });
    });

    it('403 in a tenant without an app', () =>
      api
        .tenant()
        .refused(403, 'the tenant has no such app: see POST /apps', ({ auth }) => auth.accounts.config()));

    it('400 for an unknown app', () =>
      visitor(api).refused(400, 'unknown app_id', ({ auth }) => auth.accounts.config({ app_id: 'nope' })));
  });
});

behaviour('Accounts', (api) => {
  it('a session lasts until it signs out', async () => {
    const { plinth, body, options, ...user } = await signedUp(api);
    await plinth.auth.accounts.signout({}, options);
    await user.refused(401, /credentials/, ({ auth }) => auth.accounts.signout({}, options));
    await plinth.auth.accounts.signin({ body });
  });

  it('429 for an account that was tried too often', async () => {
    const { body, ...user } = await signedUp(api);
    const wrong = { ...body, password: next };
    for (let n = 0; n < 5; n += 1)
      await user.refused(401, 'invalid credentials', ({ auth }) => auth.accounts.signin({ body: wrong }));
    await user.refused(429, 'too many attempts', ({ auth }) => auth.accounts.signin({ body }));
  });

  it('a repeated refresh with its key is answered the same pair', async () => {
    const { plinth, refresh_token } = await signedUp(api);
    const refresh = () =>
      plinth.auth.accounts.refresh({ body: { refresh_token } }, { idempotencyKey: 'lost' });
    const first = await refresh();
    expect(await refresh()).toEqual(first);
  });
});
