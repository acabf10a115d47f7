import { markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { button, field, focusOf, form, hidden, notice, titled } from './parts.ts';
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
  readonly problems?: Problems | undefined;
}

export const forgotPasswordPage = ({
  action,
  csrf,
  appId,
  email,
  problems,
}: ForgotPasswordPage): PageView => ({
  title: titled('Reset your password', problems),
  body: markup`<h1>Reset your password</h1>
<p class="lead">We send you a message with a link to choose a new one.</p>
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
  button('Send the link'),
)}`,
});

/** The page is the same whether or not the account exists. */
export const messageSentPage = (email: string): PageView => ({
  title: 'Look into your mail',
  body: markup`<h1>Look into your mail</h1>
<p>If there is an account with the address <strong>${email}</strong>, a message with a link is on its way to it. The link is good for one hour.</p>
<p class="hint">Nothing came? Look into the folder for unwanted mail, or try again in a few minutes.</p>`,
});

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
<p class="lead">for ${account}. You will be signed out everywhere.</p>
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

export const passwordChangedPage: PageView = {
  title: 'Your password is changed',
  body: markup`<h1>Your password is changed</h1>
<p>Sign in with it from now on. You can close this page.</p>`,
};

export interface VerifyEmailPage extends TokenPage {
  readonly email: string;
  readonly problems?: Problems | undefined;
}

export const verifyEmailPage = ({ action, csrf, token, email, problems }: VerifyEmailPage): PageView => ({
  title: titled('Verify your email address', problems),
  body: markup`<h1>Verify your email address</h1>
<p class="lead">Is <strong>${email}</strong> yours?</p>
${notice(problems?.summary)}
${form(action, csrf, hidden('token', token), button('Yes, verify it'))}`,
});

export const emailVerifiedPage: PageView = {
  title: 'Your email address is verified',
  body: markup`<h1>Your email address is verified</h1>
<p>Thank you. You can close this page.</p>`,
};
