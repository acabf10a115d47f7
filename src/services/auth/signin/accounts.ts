import type { Accounts } from '../../../../generated/auth/server.ts';
import type { AuthResult } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { appInContext, appOfCaller } from '../directory/app-context.ts';
import { clientConfigStore } from '../apps/client-config.store.ts';
import type { Deps } from '../factors/deps.ts';
import { verifyEmail } from './email-verification.ts';
import { Impersonated } from '../errors.ts';
import { changePassword, resetPassword } from './password-changes.ts';
import { signInByPassword } from './password-signin.ts';
import { createRefresh } from '../sessions/refresh.ts';
import { requestMessage } from '../messages/requests.ts';
import { endSessions } from '../sessions/revocations.ts';
import { answerSignin, completeSignin, visitOf } from './signin.ts';
import { signUp } from './signup.ts';

/** Accounts: sign-up, sign-in and sign-out, tokens, passwords and email verification. */
export const accounts = (deps: Deps) => {
  const { db, directory, limits, write } = deps;
  const refreshSession = createRefresh(deps);

  /** The app that a public operation names. */
  const named = (request: { 'X-Publishable-Key'?: string | undefined }, appId: string | undefined) =>
    appInContext(directory, { publishableKey: request['X-Publishable-Key'], appId });

  return {
    async signup({ body, ...headers }, context) {
      const app = await named(headers, body.app_id);
      await limits.take('signup', context.ip);
      const visit = visitOf(context, headers['X-Device-Token']);
      return answerSignin(
        context,
        await signUp(deps, app, body, visit, context.signal, completeSignin),
      ) as AuthResult;
    },

    async signin({ body, ...headers }, context) {
      const app = await named(headers, body.app_id);
      await limits.take('signin', context.ip);
      const visit = visitOf(context, headers['X-Device-Token']);
      return answerSignin(
        context,
        await signInByPassword(deps, app, body, visit, context.signal, completeSignin),
      );
    },

    async signout(_request, { tenant, app, actor, userId, session }) {
      if (session)
        await write({ tenant, app, actor }, async (signout) => {
          if ((await endSessions(signout, [session.id], 'signout')) > 0)
            signout.emit('auth.signout', userId!, { user_id: userId, session_id: session.id });
        });
      return { status: 'signed_out' };
    },

    async refresh({ body, 'Idempotency-Key': key = null }, { ip, reply }) {
      await limits.take('refresh', ip);
      const tokens = await refreshSession(body.refresh_token, key);
      reply.header('Cache-Control', 'no-store');
      return tokens;
    },

    async forgotPassword({ body, ...headers }, { ip }) {
      const app = await named(headers, body.app_id);
      await limits.take('forgot', ip);
      await requestMessage(deps, app, 'reset_password', body.email, ip);
      return { status: 'ok' };
    },

    async resetPassword({ body }, context) {
      await limits.take('code', context.ip);
      const visit = visitOf(context, undefined);
      await resetPassword(deps, body.token, body.new_password, visit, context.signal);
      return { status: 'password_reset' };
    },

    async changePassword({ body }, context) {
      const { session, signal } = context;
      if (session?.impersonatedBy) throw Impersonated();
      const app = await appOfCaller(directory, context, undefined);
      const visit = visitOf(context, undefined);
      const request = { app, userId: context.userId!, sessionId: session?.id, visit, signal };
      await changePassword(deps, request, body.current_password, body.new_password);
      return { status: 'password_changed' };
    },

    async verifyEmail({ body }, { ip }) {
      await limits.take('code', ip);
      await verifyEmail(deps, body.token);
      return { status: 'email_verified' };
    },

    async resendVerification({ body, ...headers }, { ip }) {
      const app = await named(headers, body.app_id);
      await limits.take('resend', ip);
      await requestMessage(deps, app, 'verify_email', body.email, ip);
      return { status: 'ok' };
    },

    async config({ app_id, ...headers }, context) {
      const unnamed = headers['X-Publishable-Key'] === undefined && app_id === undefined;
      const known = unnamed && context.actor !== 'anonymous';
      const app = known ? await appOfCaller(directory, context, undefined) : await named(headers, app_id);
      const { signup_enabled, password_min_length } = app.settings;
      const looks = await clientConfigStore(db.sql).looks(app.tenant, app.id);
      return { app_id: app.id, name: app.name, signup_enabled, password_min_length, ...looks };
    },
  } satisfies Accounts<Context>;
};
