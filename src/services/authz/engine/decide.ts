import { firstPolicy } from './abac.ts';
import type { Model } from './model.ts';
import { cut, Question, Request } from './question.ts';
import { decideByRoles } from './rbac.ts';
import { evaluate } from './rebac.ts';
import type { CheckInput, DecideOptions, Decision, Outcome } from './types.ts';
import { TRUE } from './visits.ts';

/** How many times the visits of one check a whole batch may make. */
const BATCH_VISITS = 4;

/** Decides one check, or says which slices it needs first. */
export function decide(model: Model, input: CheckInput, { now, limits }: DecideOptions): Outcome<Decision> {
  const request = new Request(now, limits, limits.visits);
  const outcome = answer(new Question(model, input, request));
  return request.missingCount > 0 ? { missing: request.missing() } : outcome;
}

/** Decides many checks at one revision, in their order, or says which slices they all need first. */
export function decideBatch(
  model: Model,
  inputs: readonly CheckInput[],
  { now, limits }: DecideOptions,
): Outcome<Decision[]> {
  const request = new Request(now, limits, limits.visits * BATCH_VISITS);
  const answers = inputs.map((input) => answer(new Question(model, input, request)).answer);
  return request.missingCount > 0 ? { missing: request.missing() } : { answer: answers };
}

/**
 * The order of a decision: a deny policy, else a role, else a relation, else an allow policy, else deny. A model that
 * lacks a slice is passed over so that the slices of the later ones are asked for in the same round; the answer then
 * does not count, since it could name another source than a model that has all slices.
 */
export function answer(question: Question): { readonly answer: Decision } {
  const { model, input } = question;
  const { grants, policies } = model.derived(input.resource_type, input.action);
  const deny = policies.deny.policies.length === 0 ? undefined : firstPolicy(question, policies.deny);
  if (deny !== undefined) return deny.outcome;
  const byRole = decideByRoles(question, grants);
  if (byRole !== undefined) return question.limit === undefined ? byRole : limitReached(question);
  const byRelation = question.resourceId === '' ? undefined : decideByRelations(question);
  if (byRelation !== undefined) return byRelation;
  const allow = policies.allow.policies.length === 0 ? undefined : firstPolicy(question, policies.allow);
  if (question.limit !== undefined) return limitReached(question);
  return allow?.outcome ?? { answer: denied(question) };
}

function decideByRelations(question: Question): { readonly answer: Decision } | undefined {
  const { input, model } = question;
  if (question.limit !== undefined) return limitReached(question);
  const { value, proof } = evaluate(question, input.resource_type, input.action, question.resourceId);
  if (value === TRUE) {
    return {
      answer: allowedByRelation(question, model.facts.tuples.ids.get(proof), model.facts.tupleText(proof)),
    };
  }
  return question.limit === undefined ? undefined : limitReached(question);
}

export function allowedByRelation({ input, resourceId }: Question, tupleId: string, tuple: string): Decision {
  const object = `${input.resource_type}:${resourceId}#${input.action}`;
  return {
    allowed: true,
    decision: 'allow',
    reason: cut(`relation "${object}" includes ${input.subject_kind} "${input.subject_id}"`),
    sources: ['rebac'],
    matched_by: { source: 'rebac', rule_id: tupleId, detail: cut(tuple) },
  };
}

/** A check that met a limit is denied: what it would have found is not known, and nothing may be allowed by a guess. */
export function limitReached({ limit }: Question): { readonly answer: Decision } {
  return {
    answer: {
      allowed: false,
      decision: 'deny',
      reason: `evaluation limit reached: ${limit ?? 'visits'}`,
      sources: ['rebac'],
      matched_by: null,
    },
  };
}

export function denied({ input }: Question): Decision {
  const subject = `${input.subject_kind} "${input.subject_id}"`;
  return {
    allowed: false,
    decision: 'deny',
    reason: cut(
      `${subject} has no role, relation or policy that grants "${input.resource_type}:${input.action}"`,
    ),
    sources: [],
    matched_by: null,
  };
}
