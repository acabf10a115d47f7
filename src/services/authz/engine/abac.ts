import { candidatesFor, coversResource } from './policy-index.ts';
import type { PolicyList } from './policy-index.ts';
import { matchesLiterally } from './policies.ts';
import type { CompiledPolicy } from './policies.ts';
import type { Question } from './question.ts';
import { holdsRole } from './rbac.ts';
import { evaluate } from './rebac.ts';
import { TRUE } from './visits.ts';

/**
 * The first policy of a list, by (priority, id), that matches the question and whose conditions hold. A policy that may
 * match once a missing slice is known is passed over: the pass is repeated anyway, and the later ones may lack slices too.
 */
export function firstPolicy(question: Question, list: PolicyList): CompiledPolicy | undefined {
  const { input } = question;
  for (const position of candidatesFor(list, input.subject_kind, input.subject_id)) {
    const indexed = list.policies[position];
    if (indexed === undefined || !coversResource(indexed, question.resourceId)) continue;
    if (applies(question, indexed.policy)) return indexed.policy;
  }
  return undefined;
}

/** Subject and conditions; what needs no facts is tried first. */
function applies(question: Question, policy: CompiledPolicy): boolean {
  const { input, now } = question;
  const literally = matchesLiterally(policy, input.subject_kind, input.subject_id);
  if (!literally && policy.roles.length === 0 && policy.usersets.length === 0) return false;
  if (policy.conditions.length > 0) {
    const situation = { input, now };
    for (const holds of policy.conditions) if (!holds(situation)) return false;
  }
  return literally || matchesByFacts(question, policy);
}

/** Whether a role or a userset of the policy covers the subject. */
export function matchesByFacts(question: Question, policy: CompiledPolicy): boolean {
  for (const { slug } of policy.roles) if (holdsRole(question, slug)) return true;
  for (const { type, relation, id } of policy.usersets) {
    if (evaluate(question, type, relation, id).value === TRUE) return true;
  }
  return false;
}
