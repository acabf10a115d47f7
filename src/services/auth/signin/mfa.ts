import type { Mfa } from '../../../../generated/auth/server.ts';
import type { AuthResult } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { appOfCaller } from '../directory/app-context.ts';
import { answerChallenge, sendChallengeCode } from './challenge-answers.ts';
import type { Deps } from '../factors/deps.ts';
import {
  enroll,
  regenerateCodes,
  removeFactors,
  shown,
  verifyFactor,
  type Owner,
} from '../factors/enrolling.ts';
import { enrollmentStore } from '../factors/enrollments.store.ts';
import { requireFresh } from '../sessions/fresh.ts';
import { refuseImpersonation } from '../sessions/impersonation.ts';
import { answerSignin, completeSignin, visitOf } from './signin.ts';

/** Mfa: second factors, their recovery codes, and the challenges of sign-ins that wait for them. */
export const mfa = (deps: Deps) => {
  const { db, directory, limits } = deps;

  const ownerOf = async (context: Context): Promise<Owner> => ({
    app: await appOfCaller(directory, context, undefined),
    userId: context.userId!,
    actor: context.actor,
    visit: visitOf(context, undefined),
  });

  return {
    async enroll({ body }, context) {
      refuseImpersonation(context);
      await requireFresh(deps, db.sql, context);
      const enrollment = await enroll(deps, await ownerOf(context), body, context);
      context.reply.header('Cache-Control', 'no-store');
      return enrollment;
    },

    async verify({ body }, context) {
      refuseImpersonation(context);
      return verifyFactor(deps, await ownerOf(context), body, visitOf(context, undefined));
    },

    async challenge({ body, ...headers }, context) {
      await limits.take('code', context.ip);
      const visit = visitOf(context, headers['X-Device-Token']);
      return answerSignin(context, await answerChallenge(deps, body, visit, completeSignin)) as AuthResult;
    },

    async sendCode({ body }, { ip }) {
      await limits.take('sms', ip);
      return { status: 'code_sent', expires_at: await sendChallengeCode(deps, body.challenge_token, ip) };
    },

    async remove({ method }, context) {
      refuseImpersonation(context);
      await requireFresh(deps, db.sql, context);
      await removeFactors(deps, await ownerOf(context), method);
      return { status: 'removed' };
    },

    async regenerate(_request, context) {
      refuseImpersonation(context);
      await requireFresh(deps, db.sql, context);
      const codes = await regenerateCodes(deps, await ownerOf(context));
      context.reply.header('Cache-Control', 'no-store');
      return codes;
    },

    async list(_request, context) {
      const { app, userId } = await ownerOf(context);
      return (await enrollmentStore(db.sql).ofUser(app.tenant, userId)).map(shown);
    },
  } satisfies Mfa<Context>;
};
