import { matchesByFacts } from './abac.ts';
import { expand } from './expansion.ts';
import type { ObjectSet } from './expansion.ts';
import { failingConditions } from './hints.ts';
import { idsInPolicies } from './known-ids.ts';
import type { Model } from './model.ts';
import type { Pacing, Suspension } from './pacing.ts';
import { coversResource } from './policy-index.ts';
import type { IndexedPolicy } from './policy-index.ts';
import { matchesLiterally } from './policies.ts';
import type { CompiledPolicy } from './policies.ts';
import { Question, Request } from './question.ts';
import { applicableRoles, assignedRoles, decideByRoles } from './rbac.ts';
import { reachableObjects } from './reverse-walk.ts';
import { A } from './slices.ts';
import type { CheckInput, ListObjectsInput, ListOptions, ListSubjectsInput } from './types.ts';

/** What a listing has to examine. */
export interface Candidates {
  /** Every id of the type is allowed, known or not. */
  readonly all: boolean;
  /** Ids that may be allowed, each once, in no order; undefined: every known id of the type. */
  readonly ids: ReadonlySet<string> | undefined;
}

export const MAX_WALK = 100_000;

/** The resources of a type that the subject may be allowed to act on. */
export function* objectCandidates(
  model: Model,
  input: ListObjectsInput,
  options: ListOptions,
  pacing: Pacing,
): Suspension<Candidates> {
  const { grants, policies } = model.derived(input.resource_type, input.action);
  const question = yield* settled(model, input, options, pacing, (asked) => {
    applicableRoles(asked);
    for (const { policy } of [...policies.deny.policies, ...policies.allow.policies])
      matchesByFacts(asked, policy);
  });
  const mayMatch = ({ policy }: IndexedPolicy) =>
    matchesLiterally(policy, input.subject_kind, input.subject_id) ||
    policy.roles.some(({ slug }) => holdsAnywhere(question, slug)) ||
    matchesByFacts(question, policy);
  const allows = policies.allow.policies.filter(
    (indexed) => mayMatch(indexed) && mayHold(indexed, question, 'resource.id'),
  );
  const everywhere = (indexed: IndexedPolicy) =>
    coversResource(indexed, '') &&
    !reads(indexed.policy, 'resource.id') &&
    (matchesLiterally(indexed.policy, input.subject_kind, input.subject_id) ||
      matchesByFacts(question, indexed.policy));
  const unscoped = decideByRoles(question, grants) !== undefined || allows.some(everywhere);
  const all = unscoped && !policies.deny.policies.some(mayMatch);
  if (unscoped || allows.some(({ ids }) => ids === null || ids.some((id) => id.includes('*'))))
    return { all, ids: undefined };

  const { walk = MAX_WALK, now } = options;
  const reachable = yield* reachableObjects(model, input, now, walk, pacing);
  if (reachable === undefined) return { all, ids: undefined };
  for (const { scope, role } of assignedRoles(question)) {
    if (scope.type === input.resource_type && scope.id !== '*' && grants.by(role) !== undefined)
      reachable.add(scope.id);
  }
  for (const { ids } of allows) for (const id of ids ?? []) reachable.add(id);
  return { all, ids: reachable };
}

/** The subjects of a kind that may be allowed to act on a resource. */
export function* subjectCandidates(
  model: Model,
  input: ListSubjectsInput,
  options: ListOptions,
  pacing: Pacing,
): Suspension<Candidates> {
  const { grants, policies } = model.derived(input.resource_type, input.action);
  const kind = input.subject_kind;
  const resourceId = input.resource_id ?? '';
  const nobody = new Question(
    model,
    { ...input, subject_id: '' },
    new Request(options.now, options.limits, 0),
  );
  const touches = (indexed: IndexedPolicy) =>
    coversResource(indexed, resourceId) && mayCover(indexed.policy, kind);
  const allows = policies.allow.policies.filter(
    (each) => touches(each) && mayHold(each, nobody, 'subject.id'),
  );
  const byDefault =
    kind === 'user' && model.roles.defaults().some(({ number }) => grants.by(number) !== undefined);
  const unscoped =
    byDefault || allows.some(({ policy }) => !reads(policy, 'subject.id') && matchesEveryone(policy, kind));
  const all = unscoped && !policies.deny.policies.some(touches);
  const open = allows.some(
    ({ policy }) => policy.roles.length > 0 || policy.literal.some(({ form }) => form !== 'id'),
  );
  if (unscoped || open || (!grants.none && model.mode === 'partial')) return { all, ids: undefined };

  const roots: ObjectSet[] = allows.flatMap(({ policy }) => policy.usersets);
  if (resourceId !== '') roots.push({ type: input.resource_type, relation: input.action, id: resourceId });
  const { walk = MAX_WALK, now } = options;
  const members = yield* expand(model, roots, kind, now, walk, pacing);
  if (members === undefined) return { all, ids: undefined };
  for (const id of idsInPolicies(model, kind, true)) members.add(id);
  if (!grants.none) for (const id of yield* assignees(model, input, now, pacing)) members.add(id);
  return { all, ids: members };
}

/** Full mode: ids of the subjects that hold a granting role in a scope that covers the resource. */
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

/** A type-level question with every slice that `ask` needs. */
function* settled(
  model: Model,
  input: ListObjectsInput,
  { now, limits }: ListOptions,
  pacing: Pacing,
  ask: (question: Question) => void,
): Suspension<Question> {
  const check: CheckInput = { ...input, resource_id: '' };
  for (;;) {
    const request = new Request(now, limits, limits.visits);
    const question = new Question(model, check, request);
    if (!model.isKnown(A, question.subject)) {
      request.need({ slice: 'A', subject_kind: input.subject_kind, subject_id: input.subject_id });
    }
    ask(question);
    if (request.missingCount === 0) return question;
    yield* pacing.suspend({ need: 'missing', slices: request.missing() });
  }
}

/** Whether the subject holds the role, or one that inherits from it, in any scope at all. */
function holdsAnywhere(question: Question, slug: string): boolean {
  const { roles } = question.model;
  const wanted = roles.bySlug(slug);
  const held = [...applicableRoles(question), ...[...assignedRoles(question)].map(({ role }) => role)];
  return held.some((number) => {
    const entry = roles.byNumber(number);
    return wanted !== undefined && entry !== undefined && roles.chain(entry).includes(wanted);
  });
}

/** Whether the conditions hold, or depend on the id that is being looked for. */
function mayHold({ policy }: IndexedPolicy, question: Question, open: string): boolean {
  return reads(policy, open) || failingConditions(policy, question, question.now).length === 0;
}

/** Whether a condition looks at a field. */
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
