import { matchesByFacts } from './abac.ts';
import { evaluate } from './rebac.ts';
import { expand } from './expansion.ts';
import type { ObjectSet } from './expansion.ts';
import { heldAnywhere } from './held-anywhere.ts';
import { idsInPolicies } from './known-ids.ts';
import type { Model } from './model.ts';
import type { Pacing, Suspension } from './pacing.ts';
import { coversResource } from './policy-index.ts';
import type { IndexedPolicy } from './policy-index.ts';
import type { CompiledPolicy } from './policies.ts';
import { Question, Request, stranger } from './question.ts';
import type { Verdict } from './question.ts';
import { applicableRoles, decideByRoles } from './rbac.ts';
import { reachableObjects } from './reverse-walk.ts';
import { A } from './slices.ts';
import type { CheckInput, ListObjectsInput, ListOptions, ListSubjectsInput } from './types.ts';
import { verdictOf } from './verdicts.ts';
import { TRUE } from './visits.ts';

/** The ids that a listing has to examine. */
export interface Candidates {
  /** Whether every id of the type is allowed, known or not. */
  readonly all: boolean;
  /** Whether every id of the type that is not known is allowed. */
  readonly others: boolean;
  /** Ids that may be allowed, each once, in no order. Undefined means every known id of the type. */
  readonly ids: ReadonlySet<string> | undefined;
}

export const longestWalk = 100_000;
/** Cost, in units of `Request.spend`, of checking the facts for a policy, and for each of its usersets. */
const policyWork = 100;

/** Returns the resources of a type that the subject may be allowed to act on. */
export function* objectCandidates(
  model: Model,
  input: ListObjectsInput,
  options: ListOptions,
  pacing: Pacing,
): Suspension<Candidates> {
  const { grants, policies } = model.derived(input.resource_type, input.action);
  const every = [...policies.deny.policies, ...policies.allow.policies];
  const { question, byFacts } = yield* settled(model, input, options, pacing, every);
  const verdicts = yield* verdictsOf(policies.allow.policies, question, 'resource.id', pacing);
  const { byRole, scopes } = yield* heldAnywhere(question, grants, every, pacing);
  const isNamed = ({ policy }: IndexedPolicy) =>
    verdicts.get(policy)?.literally === true || byFacts.has(policy);
  const mayMatch = (indexed: IndexedPolicy) => isNamed(indexed) || byRole.has(indexed.policy);
  const allows = policies.allow.policies.filter(
    (indexed) => mayMatch(indexed) && mayHold(indexed, verdicts, 'resource.id'),
  );
  const everywhere = (indexed: IndexedPolicy) =>
    coversResource(indexed, '') && !reads(indexed.policy, 'resource.id') && isNamed(indexed);
  const unscoped = decideByRoles(question, grants) !== undefined || allows.some(everywhere);
  let denied = false;
  if (unscoped) {
    const denials = yield* verdictsOf(policies.deny.policies, question, 'resource.id', pacing, false);
    denied = policies.deny.policies.some(
      (indexed) => denials.get(indexed.policy)?.literally === true || mayMatch(indexed),
    );
  }
  // A search that gave up may have missed a policy, so everything known is examined.
  const everything = unscoped || question.limit !== undefined || allows.some(isOpen);
  const all = unscoped && !denied;
  if (everything) return { all, others: all, ids: undefined };

  const { walk = longestWalk, now } = options;
  const reachable = yield* reachableObjects(model, input, now, walk, pacing);
  if (reachable === undefined) return { all, others: all, ids: undefined };
  for (const id of scopes) reachable.add(id);
  for (const { ids } of allows) for (const { exact } of ids ?? []) for (const id of exact) reachable.add(id);
  return { all, others: all, ids: reachable };
}

/** Whether a policy covers more resources of the type than those it names. */
const isOpen = ({ ids }: IndexedPolicy) =>
  ids === null || ids.some(({ all, patterns }) => all || patterns.length > 0);

/** Returns the subjects of a kind that may be allowed to act on a resource. */
export function* subjectCandidates(
  model: Model,
  input: ListSubjectsInput,
  options: ListOptions,
  pacing: Pacing,
): Suspension<Candidates> {
  const { grants, policies } = model.derived(input.resource_type, input.action);
  const kind = input.subject_kind;
  const resourceId = input.resource_id ?? '';
  const nobody = (visits = 0) =>
    new Question(
      model,
      { ...input, subject_id: stranger },
      new Request(options.now, options.limits, visits, pacing.pace()),
    );
  const touches = (indexed: IndexedPolicy) =>
    coversResource(indexed, resourceId) && mayCover(indexed.policy, kind);
  const touching = policies.allow.policies.filter(touches);
  const verdicts = yield* verdictsOf(touching, nobody(), 'subject.id', pacing);
  const allows = touching.filter((each) => mayHold(each, verdicts, 'subject.id'));
  const byDefault =
    kind === 'user' && model.roles.defaults().some(({ number }) => grants.by(number) !== undefined);
  const unscoped =
    byDefault || allows.some(({ policy }) => !reads(policy, 'subject.id') && matchesEveryone(policy, kind));

  const roots: ObjectSet[] = allows.flatMap(({ policy }) => policy.usersets);
  const related = { type: input.resource_type, relation: input.action, id: resourceId };
  const { walk = longestWalk, now } = options;
  const denials = policies.deny.policies.filter(touches);
  const isPublic = unscoped || (resourceId !== '' && (yield* includesStrangers(nobody, related, pacing)));
  const others = isPublic && denials.every(({ policy }) => !policy.isOpen);
  const isPlain =
    unscoped || (isPublic && (yield* takesNothingAway(model, related, kind, now, walk, pacing)));
  const all = isPlain && denials.length === 0;
  const open = allows.some(({ policy }) => policy.roles.length > 0 || isLiterallyOpen(policy));
  if (isPublic || open || (!grants.none && model.mode === 'partial')) return { all, others, ids: undefined };

  if (resourceId !== '') roots.push(related);
  const { members, everyone } = yield* expand(model, roots, kind, now, walk, pacing);
  if (members === undefined || everyone) return { all, others, ids: undefined };
  for (const id of yield* idsInPolicies(model, kind, true, pacing)) members.add(id);
  if (!grants.none) for (const id of yield* assignees(model, input, now, pacing)) members.add(id);
  return { all, others, ids: members };
}

const isLiterallyOpen = ({ everybody, patterns }: CompiledPolicy) => everybody || patterns.length > 0;

/** Whether an object set contains a subject about which nothing is known. Only a wildcard can cause this. */
function* includesStrangers(
  ask: (visits: number) => Question,
  { type, relation, id }: ObjectSet,
  pacing: Pacing,
): Suspension<boolean> {
  for (;;) {
    const question = ask(Number.MAX_SAFE_INTEGER);
    const { value } = evaluate(question, type, relation, id);
    if (question.request.missingCount === 0) return value === TRUE;
    yield* pacing.suspend({ need: 'missing', slices: question.request.missing() });
  }
}

/** Whether the terms subtracted from an object set contain no subject of the kind. Returns false when the walk would be too long. */
function* takesNothingAway(
  model: Model,
  root: ObjectSet,
  kind: string,
  now: number,
  walk: number,
  pacing: Pacing,
): Suspension<boolean> {
  const { members, taken } = yield* expand(model, [root], kind, now, walk, pacing);
  if (members === undefined) return false;
  if (taken.length === 0) return true;
  const removed = yield* expand(model, taken, kind, now, walk, pacing);
  return removed.members?.size === 0 && !removed.everyone;
}

/** Full mode: returns the ids of the subjects that hold a granting role in a scope that covers the resource. */
function* assignees(
  model: Model,
  input: ListSubjectsInput,
  now: number,
  pacing: Pacing,
): Suspension<Set<string>> {
  const { grants } = model.derived(input.resource_type, input.action);
  const { nodes, assignments, strings, everything, none, any } = model.facts;
  const type = strings.find(input.resource_type);
  const kind = strings.find(input.subject_kind);
  const scopes = [
    everything,
    nodes.find(type, none, any),
    nodes.find(type, none, strings.find(input.resource_id ?? '')),
  ];
  const ids = new Set<string>();
  for (let row = 0; row < assignments.length; row++) {
    if (row % 10_000 === 9_999) yield* pacing.pause();
    const subject = assignments.left[row]!;
    if (subject < 0 || nodes.type[subject] !== kind || !(assignments.expires[row]! > now)) continue;
    if (scopes.includes(assignments.right[row]!) && grants.by(assignments.role[row]!))
      ids.add(nodes.idOf(subject));
  }
  return ids;
}

/** Asks a type-level question with every slice that policies need, and returns it with the policies that cover the subject by its facts. */
function* settled(
  model: Model,
  input: ListObjectsInput,
  { now, limits }: ListOptions,
  pacing: Pacing,
  policies: readonly IndexedPolicy[],
): Suspension<{ question: Question; byFacts: ReadonlySet<CompiledPolicy> }> {
  const check: CheckInput = { ...input, resource_id: '' };
  for (;;) {
    const request = new Request(now, limits, limits.visits, pacing.pace());
    const question = new Question(model, check, request);
    if (!model.isKnown(A, question.subject)) {
      request.need({ slice: 'A', subject_kind: input.subject_kind, subject_id: input.subject_id });
    }
    applicableRoles(question);
    const byFacts = new Set<CompiledPolicy>();
    for (const { policy } of policies) {
      request.spend(policyWork * (1 + policy.usersets.length));
      if (request.isPauseDue) {
        yield* pacing.suspend({ need: 'pause' });
        question.resume();
      }
      if (matchesByFacts(question, policy)) byFacts.add(policy);
    }
    if (request.missingCount === 0) return { question, byFacts };
    yield* pacing.suspend({ need: 'missing', slices: request.missing() });
  }
}

/**
 * Computes the part of each policy's verdict that needs no facts. Leaves out conditions that do not matter or that depend on
 * the ids being searched for.
 */
function* verdictsOf(
  policies: readonly IndexedPolicy[],
  question: Question,
  open: string,
  pacing: Pacing,
  withConditions = true,
): Suspension<ReadonlyMap<CompiledPolicy, Verdict>> {
  const verdicts = new Map<CompiledPolicy, Verdict>();
  for (const { policy } of policies) {
    const judged = withConditions && !reads(policy, open) ? policy : { ...policy, conditions: [] };
    verdicts.set(policy, yield* pacing.through(verdictOf(question, judged)));
  }
  return verdicts;
}

/** Whether the conditions hold or depend on the id being searched for. */
function mayHold(
  { policy }: IndexedPolicy,
  verdicts: ReadonlyMap<CompiledPolicy, Verdict>,
  open: string,
): boolean {
  return reads(policy, open) || verdicts.get(policy)?.failing.length === 0;
}

/** Whether a condition reads a field. */
function reads({ rule }: CompiledPolicy, field: string): boolean {
  const mentions = (value: unknown) =>
    typeof value === 'object' && value !== null && Reflect.get(value, 'field') === field;
  return rule.conditions.some((condition) => condition.field === field || mentions(condition.value));
}

/** Whether a policy may cover some subject of the kind. */
function mayCover(policy: CompiledPolicy, kind: string): boolean {
  if (policy.roles.length > 0 || policy.usersets.length > 0) return true;
  return policy.literal.some(
    (matcher) => !('kind' in matcher) || matcher.kind === null || matcher.kind === kind,
  );
}

function matchesEveryone(policy: CompiledPolicy, kind: string): boolean {
  return policy.literal.some(
    (matcher) =>
      matcher.form === 'any' ||
      (matcher.form === 'pattern' &&
        /^\*+$/.test(matcher.pattern) &&
        (matcher.kind === null || matcher.kind === kind)),
  );
}
