import type { Pages } from '../../../../generated/auth/server.ts';
import type {
  ChallengeAnswer,
  InvitationForm,
  Member,
  MfaChallenge,
  Signin,
  Signup,
} from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { DomainError, Gone } from '../../../lib/errors.ts';
import { answerChallenge, waitingSignin } from '../signin/challenge-answers.ts';
import type { Deps } from '../oauth/access/deps.ts';
import {
  acceptInvitation,
  declineInvitation,
  openInvitation,
  type OpenInvitation,
} from '../organizations/invitation-answers.ts';
import { apiRequest } from '../views/api-request.ts';
import { answersOf } from '../views/form-fields.ts';
import type { Hosted } from '../views/hosted.ts';
import { declinedPage, invitationFields, joinedPage } from '../views/invitation-page.ts';
import { problemsOf } from '../views/problems.ts';
import {
  invitationQuestions,
  invitationViews,
  invitedAccount,
  ownerOf,
  page,
  subjectOf,
  type Visited,
} from './invitation-views.ts';
import type { WaysOn } from './ways-on.ts';
import { signInByPassword } from '../signin/password-signin.ts';
import { admit, type Complete } from '../signin/signin.ts';
import { signUp } from '../signin/signup.ts';

type InvitationPages = Pick<Pages<Context>, 'invitation' | 'sendInvitation'>;

/** The page of an invitation: to accept it, a user signs in to the account of the invited address, or opens one. */
export const invitationPages = (deps: Deps, hosted: Hosted, ways: WaysOn): InvitationPages => {
  const { limits } = deps;
  const views = invitationViews(deps, hosted);

  async function decline(context: Context, { token, invited }: Visited): Promise<string> {
    await limits.take('code', context.ip);
    await orOver(declineInvitation(deps, token, 'anonymous'));
    const way = await ways.on(context, invited.app);
    return hosted.say(context, ownerOf(invited), declinedPage(invited.organization.name, way));
  }

  /** Accepts with the password. Returns the challenge if a second factor is due as well. */
  async function acceptByPassword(
    context: Context,
    { invited }: Visited,
    typed: InvitationForm,
  ): Promise<string | undefined> {
    const { result } = await orOver(acceptBy(deps, hosted, context, invited, typed));
    return 'mfa_required' in result ? result.challenge_token : undefined;
  }

  async function acceptByFactor(
    context: Context,
    { invited }: Visited,
    answer: ChallengeAnswer,
  ): Promise<void> {
    await limits.take('code', context.ip);
    const request = apiRequest<ChallengeAnswer>('Mfa_challenge', answer);
    await orOver(answerChallenge(deps, request, hosted.visit(context), accepting(invited)));
  }

  async function sayJoined(context: Context, { invited }: Visited): Promise<string> {
    const cookies = hosted.challenge.of(context) === undefined ? [] : [hosted.challenge.forget(page)];
    const view = joinedPage(invited.organization.name, await ways.on(context, invited.app));
    return hosted.say(context, ownerOf(invited), view, { cookies });
  }

  return {
    async invitation({ token }, context) {
      return views.invitation(context, { token, invited: await orOver(openInvitation(deps, token)) });
    },

    async sendInvitation({ body }, context) {
      const { token, decision, method, code } = body;
      hosted.check(context, subjectOf(token), body.csrf);
      const visited = { token, invited: await orOver(openInvitation(deps, token)) };
      const challenge_token = hosted.challenge.of(context);
      try {
        if (decision === 'decline') return await decline(context, visited);
        if (code === undefined || method === undefined || challenge_token === undefined) {
          const challenge = await acceptByPassword(context, visited, body);
          if (challenge !== undefined) return await views.factor(context, visited, challenge);
        } else {
          await acceptByFactor(context, visited, { challenge_token, method, code });
        }
      } catch (thrown) {
        if (
          code === undefined ||
          challenge_token === undefined ||
          !(await waitingSignin(deps, challenge_token))
        )
          return views.invitation(context, visited, body, problemsOf(thrown, 'The password is not correct.'));
        const problems = problemsOf(thrown, 'This code is not correct.');
        return views.factor(context, visited, challenge_token, method, problems);
      }
      return sayJoined(context, visited);
    },
  };
};

/** Accepts with the password of the account; opens an account when there is none. */
async function acceptBy(
  deps: Deps,
  hosted: Hosted,
  context: Context,
  invited: OpenInvitation,
  typed: InvitationForm,
) {
  const { limits } = deps;
  const { app, email } = invited;
  const { password = '', name } = typed;
  const visit = hosted.visit(context);
  if (await invitedAccount(deps, invited)) {
    await limits.take('signin', context.ip);
    const body = apiRequest<Signin>('Accounts_signin', { email, password });
    return signInByPassword(deps, app, body, visit, context.signal, accepting(invited));
  }
  await limits.take('signup', context.ip);
  const metadata = answersOf(await invitationQuestions(deps, invited), invitationFields, typed);
  const body = apiRequest<Signup>('Accounts_signup', { email, password, name, metadata });
  return signUp(deps, app, { ...body, email_verified: true }, visit, context.signal, accepting(invited));
}

/** A sign-in for an invitation results in a member and no session. The token proves the address. */
const accepting =
  ({ hash }: OpenInvitation): Complete<{ readonly result: MfaChallenge | Member }> =>
  async (deps, write, app, userId, signin) => {
    const challenge = await admit(deps, write, app, userId, { ...signin, addressProven: true });
    return { result: challenge ?? (await acceptInvitation(write, hash, userId)) };
  };

/** An invitation that was decided or has expired is not the fault of the user who follows its link. */
async function orOver<T>(run: Promise<T>): Promise<T> {
  return run.catch((thrown: unknown) => {
    if (!(thrown instanceof DomainError)) throw thrown;
    const over =
      thrown.details?.['reason'] === 'invalid_token' || thrown.message.startsWith('invitation already');
    throw over ? Gone('invitation: decided or expired') : thrown;
  });
}
