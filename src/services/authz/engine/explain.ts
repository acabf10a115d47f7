import { matchesByFacts } from './abac.ts';
import { answerInSlices, finish } from './decide.ts';
import { hintsFor } from './hints.ts';
import type { Model } from './model.ts';
import { candidatesFor, coversResource } from './policy-index.ts';
import type { IndexedPolicy, PolicyList } from './policy-index.ts';
import type { CompiledPolicy } from './policies.ts';
import { shortestProof } from './proof.ts';
import { cut, Question, Request } from './question.ts';
import type { Verdict } from './question.ts';
import { applicableRoles } from './rbac.ts';
import { evaluate } from './rebac.ts';
import type { CheckInput, DecideOptions, Explanation, Outcome, Step, Work } from './types.ts';
import { verdictOf } from './verdicts.ts';
import { TRUE } from './visits.ts';

const mostSteps = 50;
const longestPath = 50;
/** An explanation runs every model to its end and tries its hints, so it may visit as much as a batch of this many checks. */
const explainVisits = 16;

/** Returns the decision of `decide`, the result of each model, the proof by tuples, and the changes that would lead to an allow. */
export function* beginExplanation(
  model: Model,
  input: CheckInput,
  { now, limits, pace }: DecideOptions,
): Work<Explanation> {
  const request = new Request(now, limits, limits.visits * explainVisits, pace);
  const ask = () => new Question(model, input, request);
  const { answer: decision } = yield* answerInSlices(ask());
  const { policies } = model.derived(input.resource_type, input.action);
  request.verdicts = yield* verdictsOf(ask(), [...policies.deny.policies, ...policies.allow.policies]);
  const relations = yield* explainRelations(ask());
  const steps = [
    ...(yield* explainPolicies(ask(), policies.deny)),
    ...explainRoles(ask()),
    relations.step,
    ...(yield* explainPolicies(ask(), policies.allow)),
  ].slice(0, mostSteps);
  yield* request.breathe();
  const deny = policies.deny.policies.find(({ policy }) => policy.rule.id === decision.matched_by?.rule_id);
  // Hints try changes on the model, which makes sense only when every slice it needs is present.
  if (request.missingCount > 0) return { missing: request.missing() };
  const missing = decision.allowed ? [] : yield* hintsFor(ask(), deny?.policy);
  if (request.missingCount > 0) return { missing: request.missing() };
  return { answer: { ...decision, steps, path: relations.path, missing } };
}

/** Does the same without pausing. */
export function explain(model: Model, input: CheckInput, options: DecideOptions): Outcome<Explanation> {
  return finish(beginExplanation(model, input, { ...options, pace: undefined }));
}

/** Computes the part of the covering policies' verdicts that needs no facts. Some verdicts are absent when time runs out. */
function* verdictsOf(
  question: Question,
  policies: readonly IndexedPolicy[],
): Generator<undefined, ReadonlyMap<CompiledPolicy, Verdict>, undefined> {
  const verdicts = new Map<CompiledPolicy, Verdict>();
  for (const indexed of policies) {
    if (question.request.isOver) break;
    if (!coversResource(indexed, question.resourceId)) continue;
    verdicts.set(indexed.policy, yield* verdictOf(question, indexed.policy));
  }
  return verdicts;
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

function* explainRelations(
  question: Question,
): Generator<undefined, { step: Step; path: string[] }, undefined> {
  const { model, input, resourceId } = question;
  if (resourceId === '') return { step: noMatch('rebac', 'no resource id'), path: [] };
  const { tuples } = model.facts;
  const { value, proof } = evaluate(question, input.resource_type, input.action, resourceId);
  const path =
    value === TRUE || question.request.missingCount > 0
      ? yield* shortestProof(question, input.resource_type, input.action, resourceId)
      : [];
  if (value !== TRUE) {
    const reason =
      question.limit === undefined ? 'no relation' : `evaluation limit reached: ${question.limit}`;
    return { step: noMatch('rebac', reason), path: [] };
  }
  const rows = path.length > 0 ? path : [proof];
  const texts = rows.slice(0, longestPath).map((row) => model.facts.tupleText(row));
  const detail = cut(texts[0] ?? '');
  return {
    step: { source: 'rebac', result: 'allow', rule_id: tuples.ids.get(rows[0] ?? proof), detail },
    path: texts,
  };
}

/** Policies whose matchers cover the question, whether or not their conditions hold. */
function* explainPolicies(question: Question, list: PolicyList): Generator<undefined, Step[], undefined> {
  const { input, request, resourceId } = question;
  const steps: Step[] = [];
  for (const position of candidatesFor(list, input.subject_kind, input.subject_id)) {
    const { policy } = list.policies[position]!;
    const verdict = request.verdicts?.get(policy);
    if (verdict === undefined || !coversResource(list.policies[position]!, resourceId)) continue;
    if (!verdict.literally) {
      yield* request.breathe();
      question.resume();
      if (!matchesByFacts(question, policy)) continue;
    }
    const [failing] = verdict.failing;
    const name = `policy "${policy.rule.name}"`;
    steps.push({
      source: 'abac',
      result: failing === undefined ? policy.rule.effect : 'no_match',
      rule_id: policy.rule.id,
      detail: failing === undefined ? name : `${name}: conditions[${failing}] does not hold`,
    });
    if (steps.length === mostSteps) break;
  }
  return steps;
}

const noMatch = (source: Step['source'], detail: string): Step => ({
  source,
  result: 'no_match',
  rule_id: '',
  detail,
});
