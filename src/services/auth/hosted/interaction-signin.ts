import type { Pages } from '../../../../generated/auth/server.ts';
import type { Signin, Signup } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import { signInByPassword } from '../signin/password-signin.ts';
import { signUp } from '../signin/signup.ts';
import { apiRequest } from '../views/api-request.ts';
import { answersOf } from '../views/form-fields.ts';
import { problemsOf, type Problems } from '../views/problems.ts';
import { signupFields } from '../views/signup-page.ts';
import { completeHosted } from './hosted-signin.ts';
import type { InteractionSteps } from './interaction-steps.ts';

/** The forms by which a user signs in with a password, or signs up. */
export const signinForms = ({
  deps,
  hosted,
  views,
  enter,
  enterToSend,
  proceed,
}: InteractionSteps): Pick<Pages<Context>, 'signin' | 'signup' | 'sendSignup'> => ({
  async signin({ uid, body: { identifier, password, csrf } }, context) {
    const interaction = await enterToSend(uid, context, csrf);
    try {
      await deps.limits.take('signin', context.ip);
      const body = apiRequest<Signin>('Accounts_signin', { ...identityOf(identifier), password });
      const visit = hosted.visit(context);
      const { signal } = context;
      const signin = await signInByPassword(deps, interaction.app, body, visit, signal, completeHosted);
      return await proceed(context, interaction, signin, ['pwd']);
    } catch (thrown) {
      const problems = ofIdentifier(problemsOf(thrown, 'The email, username or password is not correct.'));
      return views.signin(context, interaction, identifier, { problems });
    }
  },

  async signup({ uid }, context) {
    const interaction = await enter(uid, context);
    if (!interaction.app.settings.signup_enabled) throw Invalid('sign-up is disabled');
    return views.signup(context, interaction);
  },

  async sendSignup({ uid, body }, context) {
    const interaction = await enterToSend(uid, context, body.csrf);
    try {
      await deps.limits.take('signup', context.ip);
      const metadata = answersOf(await views.questions(interaction), signupFields, body);
      const { email, password, name, username } = body;
      const typed = {
        email: email.trim(),
        password,
        name,
        username: username?.trim() || undefined,
        metadata,
      };
      const account = apiRequest<Signup>('Accounts_signup', typed);
      const visit = hosted.visit(context);
      const signin = await signUp(deps, interaction.app, account, visit, context.signal, completeHosted);
      return await proceed(context, interaction, signin, ['pwd']);
    } catch (thrown) {
      return views.signup(context, interaction, body, problemsOf(thrown, ''));
    }
  },
});

/** The page has one field for both identifiers of an account. */
const identityOf = (identifier: string) =>
  identifier.includes('@') ? { email: identifier.trim() } : { username: identifier.trim() };

/** Shows the problem of either identifier at the one field for both. */
const ofIdentifier = (problems: Problems): Problems => {
  const { email, username, ...fields } = problems.fields;
  const identifier = email ?? username;
  return identifier === undefined ? problems : { ...problems, fields: { ...fields, identifier } };
};
