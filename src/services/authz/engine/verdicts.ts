import { workOf } from './abac.ts';
import { situationOf } from './fields.ts';
import { matchesLiterally } from './policies.ts';
import type { CompiledPolicy } from './policies.ts';
import type { Question, Verdict } from './question.ts';

/** Computes the part of a policy's result that needs no facts. Tries every condition, and pauses when other tasks should run. */
export function* verdictOf(
  question: Question,
  policy: CompiledPolicy,
): Generator<undefined, Verdict, undefined> {
  const { input, request } = question;
  const literally = matchesLiterally(policy, input.subject_kind, input.subject_id);
  request.spend(workOf(policy, input.subject_id));
  const failing: number[] = [];
  let isTooLong = false;
  for (const [index, test] of policy.conditions.entries()) {
    if (request.isPauseDue) {
      yield;
      question.resume();
    }
    const situation = situationOf(question);
    const holds = test(situation);
    request.spend(situation.work);
    isTooLong ||= situation.isTooLong;
    if (!holds || situation.isTooLong) failing.push(index);
  }
  return { literally, failing, isTooLong };
}
