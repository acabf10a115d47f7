import type { Pages } from '../../../../generated/auth/server.ts';
import type { ChallengeAnswer, ChallengeMethod } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { InvalidCredentials } from '../errors.ts';
import type { Interaction } from '../oauth/interactions.ts';
import { answerChallenge, sendChallengeCode } from '../signin/challenge-answers.ts';
import { apiRequest } from '../views/api-request.ts';
import { goOn } from '../views/page-answer.ts';
import { problemsOf } from '../views/problems.ts';
import { completeHosted } from './hosted-signin.ts';
import type { InteractionSteps } from './interaction-steps.ts';
import { interactionPage } from './interaction-views.ts';

/** The forms by which a user proves the second factor. */
export const factorForms = (steps: InteractionSteps): Pick<Pages<Context>, 'mfa' | 'sendCode'> => {
  const { deps, hosted, enterToSend, proceed } = steps;
  return {
    async mfa({ uid, body: { method, code, csrf } }, context) {
      const interaction = await enterToSend(uid, context, csrf);
      try {
        await deps.limits.take('code', context.ip);
        const challenge_token = await presented(steps, context, interaction);
        const answer = apiRequest<ChallengeAnswer>('Mfa_challenge', { challenge_token, method, code });
        const signin = await answerChallenge(deps, answer, hosted.visit(context), completeHosted);
        return await proceed(context, interaction, signin, ['pwd', proofs[method], 'mfa']);
      } catch (thrown) {
        return refuseAnswer(steps, context, interaction, thrown, method);
      }
    },

    async sendCode({ uid, body: { csrf } }, context) {
      const interaction = await enterToSend(uid, context, csrf);
      try {
        await deps.limits.take('sms', context.ip);
        await sendChallengeCode(deps, await presented(steps, context, interaction), context.ip);
      } catch (thrown) {
        return refuseAnswer(steps, context, interaction, thrown, 'sms');
      }
      goOn(context.reply, { location: hosted.path(interactionPage(uid)), cookies: [] });
    },
  };
};

/** Returns the challenge that the browser keeps for this interaction. @throws Unauthenticated if there is none or it is over */
async function presented(
  { hosted, waitingOf }: InteractionSteps,
  context: Context,
  interaction: Interaction,
): Promise<string> {
  if (!(await waitingOf(context, interaction))) throw InvalidCredentials();
  return hosted.challenge.of(context)!;
}

/** Shows what was wrong with the answer to a challenge; if the challenge has ended, the sign-in starts again. */
async function refuseAnswer(
  { hosted, views, waitingOf }: InteractionSteps,
  context: Context,
  interaction: Interaction,
  thrown: unknown,
  tried: ChallengeMethod | undefined,
): Promise<string> {
  const problems = problemsOf(thrown, 'This code is not correct.');
  const waiting = await waitingOf(context, interaction);
  if (waiting) return views.mfa(context, interaction, waiting, tried, problems);
  const over = {
    ...problems,
    summary: 'It took too long, or there were too many wrong codes. Sign in again.',
  };
  const cookies = [hosted.challenge.forget(interactionPage(interaction.uid))];
  return views.signin(context, interaction, '', { problems: { ...over, fields: {} }, cookies });
}

/** The names of second factors in id tokens (RFC 8176). */
const proofs: Readonly<Record<ChallengeMethod, string>> = { totp: 'otp', sms: 'sms', recovery: 'otp' };
