import type { ChallengeMethod, FormField } from '../../../../generated/auth/types.ts';
import { type Markup, markup } from '../../../http/html.ts';
import type { TokenPage } from './account-pages.ts';
import { questionFields, type Typed } from './form-fields.ts';
import { pictures } from './icons.ts';
import type { PageView } from './layout.ts';
import { endPage } from './message-pages.ts';
import { factorForms } from './mfa-page.ts';
import { button, field, focusOf, form, hidden, notice, titled, type WayOn } from './parts.ts';
import type { Problems } from './problems.ts';
import { forgotLink } from './signin-page.ts';
import { newPassword } from './signup-page.ts';

/** How a user can accept: with an existing account, by opening one, or not at all. */
export type Acceptance =
  | { readonly as: 'account'; readonly forgot: string }
  | { readonly as: 'new'; readonly fewestCharacters: number; readonly questions: readonly FormField[] }
  | { readonly as: 'nobody' };

export interface InvitationPage extends TokenPage {
  readonly organization: string;
  readonly app: string;
  readonly email: string;
  readonly role: string;
  readonly acceptance: Acceptance;
  readonly typed?: Typed | undefined;
  readonly problems?: Problems | undefined;
}

/** The page's own fields; answers to the questions of the app's form are sent with them. */
export const invitationFields = ['token', 'decision', 'password', 'name', 'method', 'code', 'csrf'] as const;

export const invitationPage = (shown: InvitationPage): PageView => {
  const { action, csrf, token, organization, app, email, role, problems } = shown;
  return {
    title: titled(`Join ${organization}`, problems),
    body: markup`<h1>Join ${organization}</h1>
<p class="lead">You have been invited to join ${organization} on ${app} with the role ${role}. The invitation is for <strong>${email}</strong>.</p>
${notice(problems?.summary)}
${acceptForm(shown)}
${form(action, csrf, hidden('token', token), hidden('decision', 'decline'), button('Decline', 'quiet'))}`,
  };
};

function acceptForm({ action, csrf, token, email, acceptance, typed, problems }: InvitationPage): Markup {
  if (acceptance.as === 'nobody')
    return markup`<p>To join, you need an account with this address, but this app does not accept new accounts. Ask the person who invited you for help.</p>`;
  const carried = [hidden('token', token), hidden('decision', 'accept'), account(email)];
  if (acceptance.as === 'account')
    return markup`${form(
      action,
      csrf,
      ...carried,
      field(
        {
          name: 'password',
          label: 'Your password',
          type: 'password',
          fill: 'current-password',
          longest: 256,
          aside: forgotLink(acceptance.forgot),
        },
        problems,
        'password',
      ),
      button('Accept'),
    )}`;
  const { fewestCharacters, questions } = acceptance;
  const focus = focusOf(problems, 'name', 'password', ...questions.map(({ key }) => `field.${key}`));
  return form(
    action,
    csrf,
    ...carried,
    field(
      { name: 'name', label: 'Name', value: typed?.['name'], fill: 'name', longest: 128, required: false },
      problems,
      focus,
    ),
    newPassword('password', fewestCharacters, problems, focus),
    questionFields(questions, typed, problems, focus),
    button('Create account and accept'),
  );
}

/** Tells password managers which account the password belongs to. It has no name, so it is not sent. */
const account = (email: string): Markup =>
  markup`<input type="hidden" autocomplete="username" value="${email}">`;

export interface InvitationFactorPage extends TokenPage {
  readonly organization: string;
  readonly methods: readonly ChallengeMethod[];
  readonly tried?: ChallengeMethod | undefined;
  readonly problems?: Problems | undefined;
}

/** The second step of accepting. */
export const invitationFactorPage = (shown: InvitationFactorPage): PageView => {
  const { action, csrf, token, organization, methods, tried, problems } = shown;
  const carried = [hidden('token', token), hidden('decision', 'accept')];
  return {
    title: titled('Confirm that it is you', problems),
    body: markup`<h1>Confirm that it is you</h1>
<p class="lead">Your account is protected by a second step. After it, you join ${organization}.</p>
${factorForms({ action, send: undefined, csrf, carried, methods, texted: false, tried, problems })}`,
  };
};

export const joinedPage = (organization: string, way: WayOn | undefined): PageView =>
  endPage(`You joined ${organization}`, 'You can sign in now.', { picture: pictures.done, way });

export const declinedPage = (organization: string, way: WayOn | undefined): PageView =>
  endPage('You declined the invitation', `You have not joined ${organization}.`, {
    picture: pictures.refused,
    way,
  });
