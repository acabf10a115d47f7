import type { Pages } from '../../../generated/auth/server.ts';
import type { ChallengeAnswer, ChallengeMethod, Signin, Signup } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { Gone, Invalid } from '../../lib/errors.ts';
import {
  answerChallenge,
  sendChallengeCode,
  waitingSignin,
  type WaitingSignin,
} from './challenge-answers.ts';
import type { Deps } from './deps.ts';
import { InvalidCredentials } from './errors.ts';
import { completeHosted, type HostedSignin } from './hosted-signin.ts';
import { interactionPage, interactionSubject, interactionViews } from './interaction-views.ts';
import type { Interaction, Interactions } from './interactions.ts';
import { apiRequest } from './pages/api-request.ts';
import { answersOf } from './pages/form-fields.ts';
import type { Hosted } from './pages/hosted.ts';
import { goOn } from './pages/page-answer.ts';
import { problemsOf, type Problems } from './pages/problems.ts';
import { signupFields } from './pages/signup-page.ts';
import { signInByPassword } from './password-signin.ts';
import { signUp } from './signup.ts';

type InteractionPages = Pick<
  Pages<Context>,
  'interaction' | 'signin' | 'signup' | 'sendSignup' | 'mfa' | 'sendCode' | 'consent' | 'abort'
>;

/** The pages of an authorization that waits for a person: sign-in, second factor, sign-up and consent. */
export const interactionPages = (
  deps: Deps,
  interactions: Interactions,
  hosted: Hosted,
): InteractionPages => {
  const { limits } = deps;
  const views = interactionViews(deps, hosted);

  /** @throws Gone where it is over, or another browser's. */
  async function enter(uid: string, { cookie }: Context): Promise<Interaction> {
    const interaction = await interactions.find(uid, cookie);
    if (!interaction) throw Gone('interaction: over');
    return interaction;
  }

  /** @throws Invalid where the form is not of this interaction's page. */
  async function enterToSend(uid: string, context: Context, csrf: string): Promise<Interaction> {
    hosted.check(context, interactionSubject(uid), csrf);
    return enter(uid, context);
  }

  /** The sign-in of this interaction that waits for its second factor. */
  async function waitingOf(context: Context, { app }: Interaction): Promise<WaitingSignin | undefined> {
    const token = hosted.challenge.of(context);
    const waiting = token === undefined ? undefined : await waitingSignin(deps, token);
    return waiting?.app.id === app.id ? waiting : undefined;
  }

  /** Goes on as whoever was proven, or to the second factor. */
  async function proceed(
    { reply }: Context,
    interaction: Interaction,
    { result, deviceToken }: HostedSignin,
    methods: readonly string[],
  ): Promise<void> {
    const page = interactionPage(interaction.uid);
    if ('mfa_required' in result) {
      const cookies = [hosted.challenge.keep(page, result.challenge_token)];
      return goOn(reply, { location: hosted.path(page), cookies });
    }
    const { location, cookies } = await interactions.signedIn(interaction, result.user.id, methods);
    const own = [...hosted.deviceCookies(deviceToken), hosted.challenge.forget(page)];
    goOn(reply, { location, cookies: [...cookies, ...own] });
  }

  /** Says what was wrong with an answer to a challenge; where that has ended, the sign-in begins again. */
  async function refuseAnswer(
    context: Context,
    interaction: Interaction,
    thrown: unknown,
    tried: ChallengeMethod | undefined,
  ): Promise<string> {
    const problems = problemsOf(thrown, 'This code is not right.');
    const waiting = await waitingOf(context, interaction);
    if (waiting) return views.mfa(context, interaction, waiting, tried, problems);
    const over = {
      ...problems,
      summary: 'This took too long, or there were too many wrong codes. Sign in again.',
    };
    const cookies = [hosted.challenge.forget(interactionPage(interaction.uid))];
    return views.signin(context, interaction, '', { problems: { ...over, fields: {} }, cookies });
  }

  return {
    async interaction({ uid, switch_account = false }, context) {
      const interaction = await enter(uid, context);
      if (isConsent(interaction) && !switch_account) return views.consent(context, interaction);
      const waiting = switch_account ? undefined : await waitingOf(context, interaction);
      if (waiting) return views.mfa(context, interaction, waiting);
      return views.signin(context, interaction, interaction.loginHint ?? '');
    },

    async signin({ uid, body: { identifier, password, csrf } }, context) {
      const interaction = await enterToSend(uid, context, csrf);
      const { app } = interaction;
      try {
        await limits.take('signin', context.ip);
        const name = identifier.includes('@')
          ? { email: identifier.trim() }
          : { username: identifier.trim() };
        const body = apiRequest<Signin>('Accounts_signin', { ...name, password });
        const visit = hosted.visit(context);
        const signin = await signInByPassword(deps, app, body, visit, context.signal, completeHosted);
        return await proceed(context, interaction, signin, ['pwd']);
      } catch (thrown) {
        const problems = ofIdentifier(problemsOf(thrown, 'The email, username or password is not right.'));
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
        await limits.take('signup', context.ip);
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

    async mfa({ uid, body: { method, code, csrf } }, context) {
      const interaction = await enterToSend(uid, context, csrf);
      try {
        await limits.take('code', context.ip);
        const challenge_token = await presented(context, interaction);
        const answer = apiRequest<ChallengeAnswer>('Mfa_challenge', { challenge_token, method, code });
        const signin = await answerChallenge(deps, answer, hosted.visit(context), completeHosted);
        return await proceed(context, interaction, signin, ['pwd', proofs[method], 'mfa']);
      } catch (thrown) {
        return refuseAnswer(context, interaction, thrown, method);
      }
    },

    async sendCode({ uid, body: { csrf } }, context) {
      const interaction = await enterToSend(uid, context, csrf);
      try {
        await limits.take('sms', context.ip);
        await sendChallengeCode(deps, await presented(context, interaction));
      } catch (thrown) {
        return refuseAnswer(context, interaction, thrown, 'sms');
      }
      goOn(context.reply, { location: hosted.path(interactionPage(uid)), cookies: [] });
    },

    async consent({ uid, body: { csrf } }, context) {
      const interaction = await enterToSend(uid, context, csrf);
      if (!isConsent(interaction)) throw Invalid('interaction: waits for a sign-in');
      goOn(context.reply, await interactions.consented(interaction));
    },

    async abort({ uid, body: { csrf } }, context) {
      const interaction = await enterToSend(uid, context, csrf);
      goOn(context.reply, await interactions.aborted(interaction));
    },
  };

  /** The challenge that the browser keeps for this interaction. @throws Unauthenticated where there is none, or it is over. */
  async function presented(context: Context, interaction: Interaction): Promise<string> {
    if (!(await waitingOf(context, interaction))) throw InvalidCredentials();
    return hosted.challenge.of(context)!;
  }
};

/** Whoever was banned meanwhile consents to nothing: somebody has to sign in. */
const isConsent = (interaction: Interaction): interaction is Interaction & { readonly userId: string } =>
  interaction.prompt === 'consent' && interaction.userId !== null;

/** How a second factor is called in id tokens (RFC 8176). */
const proofs: Readonly<Record<ChallengeMethod, string>> = { totp: 'otp', sms: 'sms', recovery: 'otp' };

/** The page has one field for both names of an account. */
const ofIdentifier = (problems: Problems): Problems => {
  const { email, username, ...fields } = problems.fields;
  const identifier = email ?? username;
  return identifier === undefined ? problems : { ...problems, fields: { ...fields, identifier } };
};
