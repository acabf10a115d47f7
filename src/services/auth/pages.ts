import type { Pages } from '../../../generated/auth/server.ts';
import type { EmailRequest } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { DomainError, Gone, Invalid } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from './directory.ts';
import { verificationOf, verifyEmail } from './email-verification.ts';
import { InvalidToken } from './errors.ts';
import { invitationPages } from './invitation-pages.ts';
import { interactionPages } from './interaction-pages.ts';
import type { Interactions } from './interactions.ts';
import {
  emailVerifiedPage,
  forgotPasswordPage,
  messageSentPage,
  passwordChangedPage,
  resetPasswordPage,
  verifyEmailPage,
} from './pages/account-pages.ts';
import { apiRequest } from './pages/api-request.ts';
import { createHosted } from './pages/hosted.ts';
import { problemsOf, type Problems } from './pages/problems.ts';
import { passwordResetOf, resetPassword, type PasswordReset } from './password-changes.ts';
import { requestMessage } from './requests.ts';

/** Pages: what users see. Opening one changes nothing: whoever scans mail opens links, too. */
export const pages = (deps: Deps, interactions: Interactions) => {
  const { directory, limits } = deps;
  const hosted = createHosted(deps);
  const paths = {
    forgot: hosted.path('/pages/forgot-password'),
    reset: hosted.path('/pages/reset-password'),
    verify: hosted.path('/pages/verify-email'),
  };

  async function appNamed(id: string): Promise<KnownApp> {
    const app = await directory.app(id);
    if (!app) throw Invalid('unknown app_id');
    return app;
  }

  const showForgot = (context: Context, app: KnownApp, email = '', problems?: Problems) =>
    hosted.show(
      context,
      { app, orgId: null },
      `forgot-password ${app.id}`,
      (csrf) => forgotPasswordPage({ action: paths.forgot, csrf, appId: app.id, email, problems }),
      { problems },
    );

  const showReset = (
    context: Context,
    { app, account }: PasswordReset,
    token: string,
    problems?: Problems,
  ) => {
    const shown = { action: paths.reset, token, account: account.email ?? account.username ?? app.name };
    const fewestCharacters = app.settings.password_min_length;
    return hosted.show(
      context,
      { app, orgId: null },
      `reset-password ${token}`,
      (csrf) => resetPasswordPage({ ...shown, csrf, fewestCharacters, problems }),
      { problems },
    );
  };

  /** The app and the address that a token verifies. */
  async function verification(token: string): Promise<{ app: KnownApp; email: string }> {
    const { app_id, email } = await verificationOf(deps, token);
    const app = await directory.app(app_id);
    if (!app) throw InvalidToken();
    return { app, email };
  }

  const showVerify = (
    context: Context,
    { app, email }: { app: KnownApp; email: string },
    token: string,
    problems?: Problems,
  ) =>
    hosted.show(
      context,
      { app, orgId: null },
      `verify-email ${token}`,
      (csrf) => verifyEmailPage({ action: paths.verify, csrf, token, email, problems }),
      { problems },
    );

  return {
    ...interactionPages(deps, interactions, hosted),
    ...invitationPages(deps, hosted),

    async forgotPassword({ app_id = 'default' }, context) {
      return showForgot(context, await appNamed(app_id));
    },

    async sendForgotPassword({ body: { app_id, email, csrf } }, context) {
      hosted.check(context, `forgot-password ${app_id}`, csrf);
      const app = await appNamed(app_id);
      try {
        await limits.take('forgot', context.ip);
        const request = apiRequest<EmailRequest>('Accounts_forgotPassword', { email: email.trim() });
        await requestMessage(deps, app, 'reset_password', request.email);
      } catch (thrown) {
        return showForgot(context, app, email, problemsOf(thrown, ''));
      }
      return hosted.say(context, { app, orgId: null }, messageSentPage(email.trim()));
    },

    async resetPassword({ token }, context) {
      return showReset(context, await orGone(passwordResetOf(deps, token)), token);
    },

    async sendResetPassword({ body: { token, new_password, csrf } }, context) {
      hosted.check(context, `reset-password ${token}`, csrf);
      const reset = await orGone(passwordResetOf(deps, token));
      try {
        await limits.take('code', context.ip);
        await orGone(resetPassword(deps, token, new_password, context.signal));
      } catch (thrown) {
        return showReset(context, reset, token, problemsOf(thrown, ''));
      }
      return hosted.say(context, { app: reset.app, orgId: null }, passwordChangedPage);
    },

    async verifyEmail({ token }, context) {
      return showVerify(context, await orGone(verification(token)), token);
    },

    async sendVerifyEmail({ body: { token, csrf } }, context) {
      hosted.check(context, `verify-email ${token}`, csrf);
      const known = await orGone(verification(token));
      try {
        await limits.take('code', context.ip);
        await orGone(verifyEmail(deps, token));
      } catch (thrown) {
        return showVerify(context, known, token, problemsOf(thrown, ''));
      }
      return hosted.say(context, { app: known.app, orgId: null }, emailVerifiedPage);
    },
  } satisfies Pages<Context>;
};

/** A token that is good no more is no mistake of whoever follows a link. */
export async function orGone<T>(run: Promise<T>): Promise<T> {
  return run.catch((thrown: unknown) => {
    const over = thrown instanceof DomainError && thrown.details?.['reason'] === 'invalid_token';
    throw over ? Gone('token: used, replaced or expired') : thrown;
  });
}
