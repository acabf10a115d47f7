import type { FormField } from '../../../../generated/auth/types.ts';
import { markup } from '../../../http/html.ts';
import { questionFields, type Typed } from './form-fields.ts';
import type { PageView } from './layout.ts';
import { button, field, focusOf, form, notice, titled } from './parts.ts';
import type { Problems } from './problems.ts';
import type { InteractionFrame } from './signin-page.ts';

export interface SignupPage extends InteractionFrame {
  readonly questions: readonly FormField[];
  readonly fewestCharacters: number;
  /** The values typed so far; undefined on the first visit. */
  readonly typed?: Typed | undefined;
  readonly problems?: Problems | undefined;
}

/** The page's own fields; answers to the questions of the app's form are sent with them. */
export const signupFields = ['email', 'password', 'name', 'username', 'csrf'] as const;

export function signupPage({ paths, csrf, clientName, ...shown }: SignupPage): PageView {
  const { questions, fewestCharacters, typed, problems } = shown;
  const names = ['name', 'email', 'username', 'password', ...questions.map(({ key }) => `field.${key}`)];
  const focus = focusOf(problems, ...names);
  return {
    title: titled('Create an account', problems),
    body: markup`<h1>Create an account</h1>
<p class="lead">to continue to ${clientName}</p>
${notice(problems?.summary)}
${form(
  paths.signup,
  csrf,
  field(
    { name: 'name', label: 'Name', value: typed?.['name'], fill: 'name', longest: 128, required: false },
    problems,
    focus,
  ),
  field(
    { name: 'email', label: 'Email', type: 'email', value: typed?.['email'], fill: 'email', longest: 254 },
    problems,
    focus,
  ),
  field(
    {
      name: 'username',
      label: 'Username',
      value: typed?.['username'],
      fill: 'username',
      longest: 32,
      required: false,
    },
    problems,
    focus,
  ),
  newPassword('password', fewestCharacters, problems, focus),
  questionFields(questions, typed, problems, focus),
  button('Create account'),
)}
<p class="links">Already have an account? <a href="${paths.page}">Sign in</a></p>`,
  };
}

/** A field for a new password. */
export const newPassword = (
  name: 'password' | 'new_password',
  fewestCharacters: number,
  problems: Problems | undefined,
  focus: string | undefined,
) =>
  field(
    {
      name,
      label: name === 'password' ? 'Password' : 'New password',
      type: 'password',
      fill: 'new-password',
      longest: 256,
      shortest: fewestCharacters,
      hint: `Use at least ${fewestCharacters} characters, and avoid common passwords.`,
    },
    problems,
    focus,
  );
