import { markup } from '../../../http/html.ts';
import { pictures } from './icons.ts';
import type { PageView } from './layout.ts';
import { endPage } from './message-pages.ts';
import { button, field, focusOf, form, hidden, notice, titled, type WayOn } from './parts.ts';
import type { Problems } from './problems.ts';
import { newPassword } from './signup-page.ts';

export interface TokenPage {
  readonly action: string;
  readonly csrf: string;
  readonly token: string;
}

export interface ForgotPasswordPage extends Omit<TokenPage, 'token'> {
  readonly appId: string;
  readonly email: string;
  /** Back to where the user came from. */
  readonly way: WayOn | undefined;
  readonly problems?: Problems | undefined;
}

export const forgotPasswordPage = ({
  action,
  csrf,
  appId,
  email,
  way,
  problems,
}: ForgotPasswordPage): PageView => ({
  title: titled('Reset your password', problems),
  body: markup`<h1>Reset your password</h1>
<p class="lead">Enter your email address, and we will send you a link to choose a new password.</p>
${notice(problems?.summary)}
${form(
  action,
  csrf,
  hidden('app_id', appId),
  field(
    { name: 'email', label: 'Email', type: 'email', value: email, fill: 'email', longest: 254 },
    problems,
    'email',
  ),
  button('Send link'),
)}${way && markup`\n<p class="links"><a href="${way.href}">${way.text}</a></p>`}`,
});

/** The page is the same whether or not the account exists. `again` is where another message can be requested. */
export const messageSentPage = (email: string, again: string, way: WayOn | undefined): PageView =>
  endPage(
    'Check your email',
    markup`If there is an account for <strong>${email}</strong>, we have sent it a link to choose a new password. The link works for one hour.`,
    {
      picture: pictures.mail,
      hint: markup`Did nothing arrive? Look in your spam folder, or <a href="${again}">ask for another link</a> in a few minutes.`,
      way,
    },
  );

export interface ResetPasswordPage extends TokenPage {
  /** The account whose password it is, for password managers and people alike. */
  readonly account: string;
  readonly fewestCharacters: number;
  readonly problems?: Problems | undefined;
}

export const resetPasswordPage = (shown: ResetPasswordPage): PageView => {
  const { action, csrf, token, account, fewestCharacters, problems } = shown;
  return {
    title: titled('Choose a new password', problems),
    body: markup`<h1>Choose a new password</h1>
<p class="lead">for <strong>${account}</strong>. You will be signed out everywhere.</p>
${notice(problems?.summary)}
${form(
  action,
  csrf,
  hidden('token', token),
  newPassword('new_password', fewestCharacters, problems, focusOf(problems, 'new_password')),
  button('Change password'),
)}`,
  };
};

export const passwordChangedPage = (way: WayOn | undefined): PageView =>
  endPage('Your password has been changed', 'Use the new one the next time you sign in.', {
    picture: pictures.done,
    way,
  });

export interface VerifyEmailPage extends TokenPage {
  readonly email: string;
  readonly problems?: Problems | undefined;
}

export const verifyEmailPage = ({ action, csrf, token, email, problems }: VerifyEmailPage): PageView => ({
  title: titled('Verify your email address', problems),
  body: markup`<h1>Verify your email address</h1>
<p class="lead">Does <strong>${email}</strong> belong to you?</p>
${notice(problems?.summary)}
${form(action, csrf, hidden('token', token), button('Yes, verify it'))}`,
});

export const emailVerifiedPage = (way: WayOn | undefined): PageView =>
  endPage('Your email address is verified', 'Thank you. Nothing else is needed.', {
    picture: pictures.done,
    way,
  });
