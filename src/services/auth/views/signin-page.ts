import { type Markup, markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { button, field, focusOf, form, notice, titled } from './parts.ts';
import type { Problems } from './problems.ts';

/** The link targets of an interaction's pages. */
export interface InteractionPaths {
  readonly page: string;
  readonly signin: string;
  readonly signup: string;
  readonly mfa: string;
  readonly send: string;
  readonly account: string;
  readonly consent: string;
  readonly abort: string;
  readonly forgot: string;
}

/** Data that all pages of an interaction need. */
export interface InteractionFrame {
  readonly paths: InteractionPaths;
  readonly csrf: string;
  /** The client that asks for the sign-in. */
  readonly clientName: string;
}

export interface SigninPage extends InteractionFrame {
  readonly identifier: string;
  readonly signupEnabled: boolean;
  readonly problems?: Problems | undefined;
}

export function signinPage({ paths, csrf, clientName, ...shown }: SigninPage): PageView {
  const { identifier, signupEnabled, problems } = shown;
  const focus = focusOf(problems, identifier === '' ? 'identifier' : 'password');
  return {
    title: titled('Sign in', problems),
    body: markup`<h1>Sign in</h1>
<p class="lead">to continue to ${clientName}</p>
${notice(problems?.summary)}
${form(
  paths.signin,
  csrf,
  field(
    { name: 'identifier', label: 'Email or username', value: identifier, fill: 'username', longest: 254 },
    problems,
    focus,
  ),
  field(
    {
      name: 'password',
      label: 'Password',
      type: 'password',
      fill: 'current-password',
      longest: 256,
      aside: forgotLink(paths.forgot),
    },
    problems,
    focus,
  ),
  button('Sign in'),
)}
${signupEnabled && markup`<p class="links">New here? <a href="${paths.signup}">Create an account</a></p>`}
${form(paths.abort, csrf, button('Cancel', 'quiet'))}`,
  };
}

/** The link beside the label of a password. */
export const forgotLink = (href: string): Markup => markup`<a href="${href}">Forgot password?</a>`;
