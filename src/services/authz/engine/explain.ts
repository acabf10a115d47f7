import { firstPolicy, matchesByFacts } from './abac.ts';
import { answer } from './decide.ts';
import { failingConditions, hintsFor } from './hints.ts';
import type { Model } from './model.ts';
import { candidatesFor, coversResource } from './policy-index.ts';
import type { PolicyList } from './policy-index.ts';
import { matchesLiterally } from './policies.ts';
import { shortestProof } from './proof.ts';
import { cut, Question, Request } from './question.ts';
import { applicableRoles } from './rbac.ts';
import { evaluate } from './rebac.ts';
import type { CheckInput, DecideOptions, Explanation, Outcome, Step } from './types.ts';
import { TRUE } from './visits.ts';

const MAX_STEPS = 50;
const MAX_PATH = 50;
/** An explanation runs every model to its end and tries its hints: it may visit as much as a batch of so many checks. */
const EXPLAIN_VISITS = 16;

/** The decision of `decide`, with what each model says for itself, the proof by tuples, and what an allow would take. */
export function explain(
  model: Model,
  input: CheckInput,
  { now, limits }: DecideOptions,
): Outcome<Explanation> {
  const request = new Request(now, limits, limits.visits * EXPLAIN_VISITS);
  const ask = () => new Question(model, input, request);
  const { answer: decision } = answer(ask());
  const { policies } = model.derived(input.resource_type, input.action);
  const relations = explainRelations(ask());
  const steps = [
    ...explainPolicies(ask(), policies.deny),
    ...explainRoles(ask()),
    relations.step,
    ...explainPolicies(ask(), policies.allow),
  ].slice(0, MAX_STEPS);
  const deny = firstPolicy(ask(), policies.deny);
  // Hints try changes on the model, which makes sense only once all it needs is there.
  if (request.missingCount > 0) return { missing: request.missing() };
  const missing = decision.allowed ? [] : hintsFor(ask(), deny);
  if (request.missingCount > 0) return { missing: request.missing() };
  return { answer: { ...decision, steps, path: relations.path, missing } };
}

function explainRoles(question: Question): Step[] {
  const { model, input } = question;
  const { grants } = model.derived(input.resource_type, input.action);
  const steps = applicableRoles(question).map((number): Step => {
    const match = grants.by(number)?.answer.matched_by;
    if (match) return { source: 'rbac', result: 'allow', rule_id: match.rule_id, detail: match.detail };
    return noMatch('rbac', `role "${model.roles.byNumber(number)?.rule.slug ?? ''}"`);
  });
  return steps.length > 0 ? steps : [noMatch('rbac', 'no roles')];
}

function explainRelations(question: Question): { step: Step; path: string[] } {
  const { model, input, resourceId } = question;
  if (resourceId === '') return { step: noMatch('rebac', 'no resource id'), path: [] };
  const { tuples } = model.facts;
  const { value, proof } = evaluate(question, input.resource_type, input.action, resourceId);
  const path = shortestProof(question, input.resource_type, input.action, resourceId);
  if (value !== TRUE) {
    const reason =
      question.limit === undefined ? 'no relation' : `evaluation limit reached: ${question.limit}`;
    return { step: noMatch('rebac', reason), path: [] };
  }
  const rows = path.length > 0 ? path : [proof];
  const texts = rows.slice(0, MAX_PATH).map((row) => model.facts.tupleText(row));
  const detail = cut(texts[0] ?? '');
  return {
    step: { source: 'rebac', result: 'allow', rule_id: tuples.ids.get(rows[0] ?? proof), detail },
    path: texts,
  };
}

/** Policies whose matchers cover the question, whether or not their conditions hold. */
function explainPolicies(question: Question, list: PolicyList): Step[] {
  const { input, now, resourceId } = question;
  const steps: Step[] = [];
  for (const position of candidatesFor(list, input.subject_kind, input.subject_id)) {
    const indexed = list.policies[position];
    if (indexed === undefined || !coversResource(indexed, resourceId)) continue;
    const { policy } = indexed;
    if (!matchesLiterally(policy, input.subject_kind, input.subject_id) && !matchesByFacts(question, policy))
      continue;
    const [failing] = failingConditions(policy, question, now);
    const name = `policy "${policy.rule.name}"`;
    steps.push({
      source: 'abac',
      result: failing === undefined ? policy.rule.effect : 'no_match',
      rule_id: policy.rule.id,
      detail: failing === undefined ? name : `${name}: conditions[${failing}] does not hold`,
    });
    if (steps.length === MAX_STEPS) break;
  }
  return steps;
}

const noMatch = (source: Step['source'], detail: string): Step => ({
  source,
  result: 'no_match',
  rule_id: '',
  detail,
});
