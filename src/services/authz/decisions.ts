import type { Decisions } from '../../../generated/authz/server.ts';
import type { CheckResult } from '../../../generated/authz/types.ts';
import type { Context } from '../../http/context.ts';
import { Forbidden } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { begin, beginBatch } from './engine/decide.ts';
import { beginExplanation } from './engine/explain.ts';
import type { Decision } from './engine/types.ts';
import { listings } from './listings.ts';
import { checkQuestion } from './question.ts';

/** Decisions: whether a subject may perform an action on a resource, why, and on which other resources. */
export const decisions = (deps: Deps) => {
  const { models, settings } = deps;
  const limits = { depth: settings.maxDepth, visits: settings.maxVisits };

  const check: Decisions<Context>['check'] = async ({ body }, { tenant }) => {
    checkQuestion(body);
    const { answer, revision } = await models.decide(tenant, body, (model, now, pace) =>
      begin(model, body, { now, limits, pace }),
    );
    return resultOf(answer, revision);
  };

  return {
    check,

    async enforce(request, context) {
      const result = await check(request, context);
      if (!result.allowed) throw Forbidden(result.reason, { details: { ...result } });
      return result;
    },

    async batchCheck({ body }, { tenant }) {
      body.checks.forEach((check, n) => checkQuestion(check, `checks[${n}].`));
      const { answer, revision } = await models.decide(tenant, body, (model, now, pace) =>
        beginBatch(model, body.checks, { now, limits, pace }),
      );
      return { results: answer.map((decision) => resultOf(decision, revision)) };
    },

    async explain({ body }, { tenant }) {
      checkQuestion(body);
      const { answer, revision } = await models.decide(tenant, body, (model, now, pace) =>
        beginExplanation(model, body, { now, limits, pace }),
      );
      const { steps, path, missing } = answer;
      return { ...resultOf(answer, revision), steps: [...steps], path: [...path], missing: [...missing] };
    },

    ...listings(deps),
  } satisfies Decisions<Context>;
};

function resultOf(
  { allowed, decision, reason, sources, matched_by }: Decision,
  revision: number,
): CheckResult {
  return { allowed, decision, reason, sources: [...sources], revision, matched_by };
}
