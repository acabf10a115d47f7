import { situationOf } from './fields.ts';
import { candidatesFor, coversResource } from './policy-index.ts';
import type { PolicyList } from './policy-index.ts';
import { matchesLiterally } from './policies.ts';
import type { CompiledPolicy } from './policies.ts';
import type { Question } from './question.ts';
import { holdsRole } from './rbac.ts';
import { evaluate } from './rebac.ts';
import { TRUE } from './visits.ts';

/** Cost, in units of `Request.spend`, of passing over a policy, and of one pattern apart from its characters. */
const passingWork = 20;
const patternWork = 100;

/**
 * Returns the first policy of a list, by (priority, id), that matches the question and whose conditions hold. Returns null when
 * it is another task's turn to run; the next call continues where this one stopped. The search skips a policy that might match
 * once a missing slice is known: the pass is repeated anyway, and later policies may lack slices too.
 */
export function firstPolicy(question: Question, list: PolicyList): CompiledPolicy | undefined | null {
  const { input, request } = question;
  question.list ??= candidatesFor(list, input.subject_kind, input.subject_id);
  for (; question.at < question.list.length; question.at++) {
    if (request.isOver) {
      question.limit ??= 'time';
      break;
    }
    if (request.isPauseDue) return null;
    const indexed = list.policies[question.list[question.at]!]!;
    request.spend(passingWork);
    if (!coversResource(indexed, question.resourceId)) continue;
    const applying = applies(question, indexed.policy);
    if (applying === null) return null;
    if (applying) return indexed.policy;
    question.condition = 0;
  }
  question.list = undefined;
  question.at = 0;
  return undefined;
}

/**
 * Checks the subject and the conditions, and first whatever needs no facts. Returns null to pause; the next call continues with
 * the next condition.
 */
function applies(question: Question, policy: CompiledPolicy): boolean | null {
  const { input, request } = question;
  const known = request.verdicts?.get(policy);
  const literally = known?.literally ?? matchesLiterally(policy, input.subject_kind, input.subject_id);
  if (known === undefined) request.spend(workOf(policy, input.subject_id));
  if (!literally && policy.roles.length === 0 && policy.usersets.length === 0) return false;
  if (known === undefined) {
    const holding = conditionsHold(question, policy);
    if (holding !== true) return holding;
  } else if (known.failing.length > 0) {
    if (known.isTooLong && policy.rule.effect === 'deny') question.limit ??= 'condition';
    return false;
  }
  return literally || matchesByFacts(question, policy);
}

/**
 * Whether the conditions hold cannot be known when a value is too long to compare. Such an allow policy allows nothing, and
 * such a deny policy denies the check.
 */
function conditionsHold(question: Question, policy: CompiledPolicy): boolean | null {
  const { request } = question;
  const { conditions } = policy;
  for (; question.condition < conditions.length; question.condition++) {
    if (request.isOver) {
      question.limit ??= 'time';
      return false;
    }
    if (request.isPauseDue) return null;
    const situation = situationOf(question);
    const holds = conditions[question.condition]!(situation);
    request.spend(situation.work);
    if (situation.isTooLong && policy.rule.effect === 'deny') question.limit ??= 'condition';
    if (situation.isTooLong || !holds) return false;
  }
  return true;
}

/** Cost of comparing the literal subjects of a policy with an id. */
export const workOf = ({ patterns }: CompiledPolicy, id: string) =>
  patterns.length * (patternWork + id.length);

/** Whether a role or a userset of the policy covers the subject. */
export function matchesByFacts(question: Question, policy: CompiledPolicy): boolean {
  for (const { slug } of policy.roles) if (holdsRole(question, slug)) return true;
  for (const { type, relation, id } of policy.usersets) {
    if (evaluate(question, type, relation, id).value === TRUE) return true;
  }
  return false;
}
