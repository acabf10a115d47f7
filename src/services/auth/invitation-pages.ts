import type { Pages } from '../../../generated/auth/server.ts';
import type {
  ChallengeAnswer,
  InvitationForm,
  Member,
  MfaChallenge,
  Signin,
  Signup,
} from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { DomainError, Gone } from '../../lib/errors.ts';
import { accountStore } from './accounts.store.ts';
import { answerChallenge, waitingSignin } from './challenge-answers.ts';
import type { Deps } from './deps.ts';
import { formStore } from './forms.store.ts';
import {
  acceptInvitation,
  declineInvitation,
  openInvitation,
  type OpenInvitation,
} from './invitation-answers.ts';
import { apiRequest } from './pages/api-request.ts';
import { answersOf, questionsOf } from './pages/form-fields.ts';
import type { Hosted } from './pages/hosted.ts';
import {
  declinedPage,
  invitationFactorPage,
  invitationFields,
  invitationPage,
  joinedPage,
  type Acceptance,
} from './pages/invitation-page.ts';
import { problemsOf, type Problems } from './pages/problems.ts';
import { signInByPassword } from './password-signin.ts';
import { admit, type Complete } from './signin.ts';
import { signUp } from './signup.ts';

const page = '/pages/invitation';

type InvitationPages = Pick<Pages<Context>, 'invitation' | 'sendInvitation'>;

/** The page of an invitation: whoever accepts proves to be the account of the invited address, or opens it. */
export const invitationPages = (deps: Deps, hosted: Hosted): InvitationPages => {
  const { db, limits } = deps;
  const action = hosted.path(page);

  const questions = async ({ app }: OpenInvitation) =>
    questionsOf(await formStore(db.sql).active(app.tenant, app.id, 'signup'));

  const accountOf = ({ app, email }: OpenInvitation) =>
    accountStore(db.sql).find(app.tenant, app.id, { email });

  async function acceptance(invited: OpenInvitation): Promise<Acceptance> {
    const { app } = invited;
    if (await accountOf(invited))
      return {
        as: 'account',
        forgot: `${hosted.path('/pages/forgot-password')}?app_id=${encodeURIComponent(app.id)}`,
      };
    if (!app.settings.signup_enabled) return { as: 'nobody' };
    return {
      as: 'new',
      fewestCharacters: app.settings.password_min_length,
      questions: await questions(invited),
    };
  }

  async function show(
    context: Context,
    invited: OpenInvitation,
    token: string,
    typed?: InvitationForm,
    problems?: Problems,
  ): Promise<string> {
    const { app, organization, email, role } = invited;
    const shown = { action, token, organization: organization.name, app: app.name, email, role };
    const as = await acceptance(invited);
    return hosted.show(
      context,
      { app, orgId: organization.id },
      `invitation ${token}`,
      (csrf) => invitationPage({ ...shown, csrf, acceptance: as, typed, problems }),
      { problems },
    );
  }

  /** The second step. Without a number to text to on this page, only a code that was texted already counts. */
  async function showFactor(
    context: Context,
    { app, organization }: OpenInvitation,
    token: string,
    challenge: string,
    tried?: InvitationForm['method'],
    problems?: Problems,
  ): Promise<string> {
    const waiting = await waitingSignin(deps, challenge);
    const methods = waiting?.methods.filter((method) => method !== 'sms' || waiting.texted) ?? [];
    const texted = waiting?.texted ?? false;
    const shown = { action, token, organization: organization.name, methods, texted, tried, problems };
    return hosted.show(
      context,
      { app, orgId: organization.id },
      `invitation ${token}`,
      (csrf) => invitationFactorPage({ ...shown, csrf }),
      { problems, cookies: [hosted.challenge.keep(page, challenge)] },
    );
  }

  /** Accepts as the account whose password was given; opens it where there is none. */
  async function acceptBy(context: Context, invited: OpenInvitation, typed: InvitationForm) {
    const { app, email } = invited;
    const { password = '', name } = typed;
    const visit = hosted.visit(context);
    if (await accountOf(invited)) {
      await limits.take('signin', context.ip);
      const body = apiRequest<Signin>('Accounts_signin', { email, password });
      return signInByPassword(deps, app, body, visit, context.signal, accepting(invited));
    }
    await limits.take('signup', context.ip);
    const metadata = answersOf(await questions(invited), invitationFields, typed);
    const body = apiRequest<Signup>('Accounts_signup', { email, password, name, metadata });
    return signUp(deps, app, { ...body, email_verified: true }, visit, context.signal, accepting(invited));
  }

  return {
    async invitation({ token }, context) {
      return show(context, await orOver(openInvitation(deps, token)), token);
    },

    async sendInvitation({ body }, context) {
      const { token, decision, method, code } = body;
      hosted.check(context, `invitation ${token}`, body.csrf);
      const invited = await orOver(openInvitation(deps, token));
      const owner = { app: invited.app, orgId: invited.organization.id };
      const challenge = hosted.challenge.of(context);
      try {
        if (decision === 'decline') {
          await limits.take('code', context.ip);
          await orOver(declineInvitation(deps, token, 'anonymous'));
          return await hosted.say(context, owner, declinedPage(invited.organization.name));
        }
        if (code === undefined || method === undefined || challenge === undefined) {
          const { result } = await orOver(acceptBy(context, invited, body));
          if ('mfa_required' in result)
            return await showFactor(context, invited, token, result.challenge_token);
        } else {
          await limits.take('code', context.ip);
          const answer = { challenge_token: challenge, method, code };
          const request = apiRequest<ChallengeAnswer>('Mfa_challenge', answer);
          await orOver(answerChallenge(deps, request, hosted.visit(context), accepting(invited)));
        }
      } catch (thrown) {
        if (code === undefined || challenge === undefined || !(await waitingSignin(deps, challenge)))
          return show(context, invited, token, body, problemsOf(thrown, 'The password is not right.'));
        const problems = problemsOf(thrown, 'This code is not right.');
        return showFactor(context, invited, token, challenge, method, problems);
      }
      const cookies = challenge === undefined ? [] : [hosted.challenge.forget(page)];
      return hosted.say(context, owner, joinedPage(invited.organization.name), { cookies });
    },
  };
};

/** What a sign-in for an invitation ends with: a member, and no session. The token proves the address. */
const accepting =
  ({ hash }: OpenInvitation): Complete<{ readonly result: MfaChallenge | Member }> =>
  async (deps, write, app, userId, signin) => {
    const challenge = await admit(deps, write, app, userId, { ...signin, addressProven: true });
    return { result: challenge ?? (await acceptInvitation(write, hash, userId)) };
  };

/** An invitation that was decided or has expired is no mistake of whoever follows its link. */
async function orOver<T>(run: Promise<T>): Promise<T> {
  return run.catch((thrown: unknown) => {
    if (!(thrown instanceof DomainError)) throw thrown;
    const over =
      thrown.details?.['reason'] === 'invalid_token' || thrown.message.startsWith('invitation already');
    throw over ? Gone('invitation: decided or expired') : thrown;
  });
}
