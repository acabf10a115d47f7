import { firstPolicy } from './abac.ts';
import type { Model } from './model.ts';
import { cut, Question, Request } from './question.ts';
import { decideByRoles } from './rbac.ts';
import { evaluate } from './rebac.ts';
import type { CheckInput, DecideOptions, Decision, Outcome, Work } from './types.ts';
import { TRUE } from './visits.ts';

/** Cost, in units of `Request.spend`, of a check apart from its policies and relations. */
const checkWork = 500;
/** A whole batch may make this many times the visits of one check. */
const batchVisits = 4;

/** Decides one check, or returns the slices it needs first. A check that takes longer than a time slice is returned as work. */
export function begin(
  model: Model,
  input: CheckInput,
  options: DecideOptions,
): Outcome<Decision> | Work<Decision> {
  const request = new Request(options.now, options.limits, options.limits.visits, options.pace);
  const question = new Question(model, input, request);
  const outcome = answer(question);
  if (outcome === null) return goOn(question);
  return request.missingCount > 0 ? { missing: request.missing() } : outcome;
}

function* goOn(question: Question): Work<Decision> {
  const { request } = question;
  const outcome = yield* paused(question);
  return request.missingCount > 0 ? { missing: request.missing() } : outcome;
}

/** Decides many checks at one revision, in their order, or returns the slices they all need first. */
export function* beginBatch(
  model: Model,
  inputs: readonly CheckInput[],
  { now, limits, pace }: DecideOptions,
): Work<Decision[]> {
  const request = new Request(now, limits, limits.visits * batchVisits, pace);
  const answers: Decision[] = [];
  for (const input of inputs) {
    request.spend(checkWork);
    answers.push((yield* answerInSlices(new Question(model, input, request))).answer);
  }
  return request.missingCount > 0 ? { missing: request.missing() } : { answer: answers };
}

/** Returns the answer to a question, and pauses whenever it is another task's turn to run. */
export function* answerInSlices(
  question: Question,
): Generator<undefined, { readonly answer: Decision }, undefined> {
  if (question.request.isPauseDue) {
    yield;
    question.resume();
  }
  return answer(question) ?? (yield* paused(question));
}

function* paused(question: Question): Generator<undefined, { readonly answer: Decision }, undefined> {
  for (;;) {
    yield;
    question.resume();
    const outcome = answer(question);
    if (outcome !== null) return outcome;
  }
}

/** Runs work to its end without a pause. */
export function finish<Answer>(work: Work<Answer>): Outcome<Answer> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Decides one check without pausing. */
export function decide(model: Model, input: CheckInput, options: DecideOptions): Outcome<Decision> {
  const outcome = begin(model, input, { ...options, pace: undefined });
  return 'next' in outcome ? finish(outcome) : outcome;
}

/** Decides many checks without pausing. */
export function decideBatch(
  model: Model,
  inputs: readonly CheckInput[],
  options: DecideOptions,
): Outcome<Decision[]> {
  return finish(beginBatch(model, inputs, { ...options, pace: undefined }));
}

/**
 * The order of a decision: a deny policy, else a role, else a relation, else an allow policy, else deny. Evaluation continues
 * past a model that lacks a slice, so that all slices are requested in the same round. That answer is discarded, since it could
 * name another source than a model that has all slices. Returns null when it is another task's turn to run; the next call
 * continues where this one stopped.
 */
export function answer(question: Question): { readonly answer: Decision } | null {
  const { model, input } = question;
  const { grants, policies } = model.derived(input.resource_type, input.action);
  if (question.request.isOver) {
    question.limit = 'time';
    return limitReached(question);
  }
  if (question.stage === 'denials') {
    const deny = policies.deny.policies.length === 0 ? undefined : firstPolicy(question, policies.deny);
    if (deny === null) return null;
    if (deny !== undefined) return deny.outcome;
    const byRole = decideByRoles(question, grants);
    if (byRole !== undefined) return question.limit === undefined ? byRole : limitReached(question);
    const byRelation = question.resourceId === '' ? undefined : decideByRelations(question);
    if (byRelation !== undefined) return byRelation;
    question.stage = 'allowances';
  }
  const allow = policies.allow.policies.length === 0 ? undefined : firstPolicy(question, policies.allow);
  if (allow === null) return null;
  if (question.limit !== undefined) return limitReached(question);
  return allow?.outcome ?? { answer: denied(question) };
}

/** Returns the answer to a question that may not pause. */
export function answerNow(question: Question): { readonly answer: Decision } {
  question.request.isSteady = true;
  question.request.isPauseDue = false;
  try {
    const outcome = answer(question);
    if (outcome === null) throw new Error('a question that may not pause was paused');
    return outcome;
  } finally {
    question.request.isSteady = false;
  }
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

/** Denies a check that reached a limit: its true result is unknown, and nothing may be allowed by a guess. */
export function limitReached({ limit }: Question): { readonly answer: Decision } {
  return {
    answer: {
      allowed: false,
      decision: 'deny',
      reason: `evaluation limit reached: ${limit ?? 'visits'}`,
      sources: limit === 'time' || limit === 'condition' ? ['abac'] : ['rebac'],
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
