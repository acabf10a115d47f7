import type { Pages } from '../../../../generated/auth/server.ts';
import type { EmailRequest } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { DomainError, Gone, Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../oauth/access/deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { verificationOf, verifyEmail } from '../signin/email-verification.ts';
import { InvalidToken } from '../errors.ts';
import { invitationPages } from './invitation-pages.ts';
import { interactionPages } from './interaction-pages.ts';
import type { Interactions } from '../oauth/interactions.ts';
import {
  emailVerifiedPage,
  forgotPasswordPage,
  messageSentPage,
  passwordChangedPage,
  resetPasswordPage,
  verifyEmailPage,
} from '../views/account-pages.ts';
import { apiRequest } from '../views/api-request.ts';
import { createHosted, type Hosted } from '../views/hosted.ts';
import { problemsOf, type Problems } from '../views/problems.ts';
import { passwordResetOf, resetPassword, type PasswordReset } from '../signin/password-changes.ts';
import { requestMessage } from '../messages/requests.ts';
import { inOwnLook } from './branded-errors.ts';
import { waysOn, type WaysOn } from './ways-on.ts';

/** Pages: what users see. Opening a page changes nothing, because mail scanners open links, too. */
export const pages = (deps: Deps, interactions: Interactions) => {
  const hosted = createHosted(deps);
  const ways = waysOn(deps, interactions, hosted);
  const group = {
    ...interactionPages(deps, interactions, hosted),
    ...invitationPages(deps, hosted, ways),
    ...forgottenPassword(deps, hosted, ways),
    ...emailVerification(deps, hosted, ways),
  };
  const reset = passwordReset(deps, hosted, ways);
  const forgot = (app: KnownApp) => ({ href: forgotPath(hosted, app), text: 'Ask for a new link' });
  return {
    ...inOwnLook(group, deps, Object.keys(group) as (keyof typeof group)[]),
    ...inOwnLook(reset, deps, Object.keys(reset) as (keyof typeof reset)[], forgot),
  } satisfies Pages<Context>;
};

/** The path of the page on which a user of the app asks for a link to reset the password. */
const forgotPath = ({ path }: Hosted, { id }: KnownApp) =>
  `${path('/pages/forgot-password')}?app_id=${encodeURIComponent(id)}`;

/** The page on which a user asks for a link to reset the password. */
function forgottenPassword(
  deps: Deps,
  hosted: Hosted,
  ways: WaysOn,
): Pick<Pages<Context>, 'forgotPassword' | 'sendForgotPassword'> {
  const { directory, limits } = deps;
  const action = hosted.path('/pages/forgot-password');
  const subjectOf = (appId: string) => `forgot-password ${appId}`;

  async function appNamed(id: string): Promise<KnownApp> {
    const app = await directory.app(id);
    if (!app) throw Invalid('unknown app_id');
    return app;
  }

  async function show(context: Context, app: KnownApp, email = '', problems?: Problems): Promise<string> {
    const way = await ways.back(context, app);
    return hosted.show(
      context,
      { app, orgId: null },
      subjectOf(app.id),
      (csrf) => forgotPasswordPage({ action, csrf, appId: app.id, email, way, problems }),
      { problems },
    );
  }

  return {
    async forgotPassword({ app_id = 'default' }, context) {
      return show(context, await appNamed(app_id));
    },

    async sendForgotPassword({ body: { app_id, email, csrf } }, context) {
      hosted.check(context, subjectOf(app_id), csrf);
      const app = await appNamed(app_id);
      try {
        await limits.take('forgot', context.ip);
        const request = apiRequest<EmailRequest>('Accounts_forgotPassword', { email: email.trim() });
        await requestMessage(deps, app, 'reset_password', request.email, context.ip);
      } catch (thrown) {
        return show(context, app, email, problemsOf(thrown, ''));
      }
      const page = messageSentPage(email.trim(), forgotPath(hosted, app), await ways.back(context, app));
      return hosted.say(context, { app, orgId: null }, page);
    },
  };
}

/** The page of the link that resets a password. */
function passwordReset(
  deps: Deps,
  hosted: Hosted,
  ways: WaysOn,
): Pick<Pages<Context>, 'resetPassword' | 'sendResetPassword'> {
  const action = hosted.path('/pages/reset-password');
  const subjectOf = (token: string) => `reset-password ${token}`;

  const show = (context: Context, { app, account }: PasswordReset, token: string, problems?: Problems) => {
    const shown = { action, token, account: account.email ?? account.username ?? app.name };
    const fewestCharacters = app.settings.password_min_length;
    return hosted.show(
      context,
      { app, orgId: null },
      subjectOf(token),
      (csrf) => resetPasswordPage({ ...shown, csrf, fewestCharacters, problems }),
      { problems },
    );
  };

  return {
    async resetPassword({ token }, context) {
      return show(context, await orGone(passwordResetOf(deps, token)), token);
    },

    async sendResetPassword({ body: { token, new_password, csrf } }, context) {
      hosted.check(context, subjectOf(token), csrf);
      const reset = await orGone(passwordResetOf(deps, token));
      try {
        await deps.limits.take('code', context.ip);
        await orGone(resetPassword(deps, token, new_password, hosted.visit(context), context.signal));
      } catch (thrown) {
        return show(context, reset, token, problemsOf(thrown, ''));
      }
      const { app } = reset;
      return hosted.say(context, { app, orgId: null }, passwordChangedPage(await ways.on(context, app)));
    },
  };
}

/** The app and the address that a token verifies. */
interface Verification {
  readonly app: KnownApp;
  readonly email: string;
}

/** The page of the link that verifies an email address. */
function emailVerification(
  deps: Deps,
  hosted: Hosted,
  ways: WaysOn,
): Pick<Pages<Context>, 'verifyEmail' | 'sendVerifyEmail'> {
  const action = hosted.path('/pages/verify-email');
  const subjectOf = (token: string) => `verify-email ${token}`;

  async function known(token: string): Promise<Verification> {
    const { app_id, email } = await verificationOf(deps, token);
    const app = await deps.directory.app(app_id);
    if (!app) throw InvalidToken();
    return { app, email };
  }

  const show = (context: Context, { app, email }: Verification, token: string, problems?: Problems) =>
    hosted.show(
      context,
      { app, orgId: null },
      subjectOf(token),
      (csrf) => verifyEmailPage({ action, csrf, token, email, problems }),
      { problems },
    );

  return {
    async verifyEmail({ token }, context) {
      return show(context, await orGone(known(token)), token);
    },

    async sendVerifyEmail({ body: { token, csrf } }, context) {
      hosted.check(context, subjectOf(token), csrf);
      const verification = await orGone(known(token));
      try {
        await deps.limits.take('code', context.ip);
        await orGone(verifyEmail(deps, token));
      } catch (thrown) {
        return show(context, verification, token, problemsOf(thrown, ''));
      }
      const { app } = verification;
      return hosted.say(context, { app, orgId: null }, emailVerifiedPage(await ways.on(context, app)));
    },
  };
}

/** A token that is no longer valid is not the fault of the user who follows the link. */
export async function orGone<T>(run: Promise<T>): Promise<T> {
  return run.catch((thrown: unknown) => {
    const over = thrown instanceof DomainError && thrown.details?.['reason'] === 'invalid_token';
    throw over ? Gone('token: used, replaced or expired') : thrown;
  });
}
