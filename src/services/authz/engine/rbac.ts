import type { Facts } from './facts.ts';
import { cut } from './question.ts';
import type { Question } from './question.ts';
import type { RoleEntry, Roles } from './roles.ts';
import { A } from './slices.ts';
import type { Decision } from './types.ts';

/** Outcomes cached by one index. Further outcomes are built when needed, which bounds memory. */
const mostOutcomesCached = 32;
/** Cost, in units of `Request.spend`, of a role that a subject holds. */
const roleWork = 50;

/** The roles that grant one action on one type. */
export class Grants {
  readonly #roles: Roles;
  readonly #direct: ReadonlyMap<number, string>;
  readonly #label: string;
  readonly #ready = new Map<number, { readonly answer: Decision }>();

  constructor(roles: Roles, type: string, action: string) {
    this.#roles = roles;
    this.#direct = roles.directGrants(type, action);
    this.#label = `${type}:${action}`;
  }

  /** Whether no role grants the action. */
  get none(): boolean {
    return this.#direct.size === 0;
  }

  /** Returns the allow decision through a role or its nearest ancestor that holds a permission. Returns undefined when none does. */
  by(role: number): { readonly answer: Decision } | undefined {
    const ready = this.#ready.get(role);
    if (ready !== undefined) return ready;
    const entry = this.#roles.byNumber(role);
    if (entry === undefined) return undefined;
    for (const holder of this.#roles.chain(entry)) {
      const permission = this.#direct.get(holder.number);
      if (permission === undefined) continue;
      const outcome = this.#outcome(entry, holder, permission);
      if (this.#ready.size < mostOutcomesCached) this.#ready.set(role, outcome);
      return outcome;
    }
    return undefined;
  }

  /** Returns the roles that grant the action themselves or by inheritance. */
  roles(): RoleEntry[] {
    return [...this.#roles.all()].filter((entry) => this.by(entry.number) !== undefined);
  }

  #outcome({ rule }: RoleEntry, holder: RoleEntry, permission: string): { readonly answer: Decision } {
    const own = holder.rule.id === rule.id;
    const inherited = own ? '' : ` (inherited from "${holder.rule.slug}")`;
    const detail = own ? `role "${rule.slug}"` : `role "${rule.slug}" inherited from "${holder.rule.slug}"`;
    return {
      answer: {
        allowed: true,
        decision: 'allow',
        reason: cut(`role "${rule.slug}"${inherited} grants "${this.#label}"`),
        sources: ['rbac'],
        matched_by: { source: 'rbac', rule_id: permission, detail },
      },
    };
  }
}

/**
 * Returns the allow decision of the first role, in the order of the page, that grants the action. Returns undefined when none
 * does or the slice is missing.
 */
export function decideByRoles(question: Question, grants: Grants): { readonly answer: Decision } | undefined {
  if (grants.none) return undefined;
  return firstRole(question, (role) => grants.by(role));
}

/** Whether the subject holds a role, or one that inherits from it, in a scope that covers the resource. */
export function holdsRole(question: Question, slug: string): boolean {
  const wanted = question.model.roles.bySlug(slug);
  return wanted !== undefined && heldRoles(question).has(wanted.number);
}

const none: ReadonlySet<number> = new Set();

/** Returns all roles that a subject holds for the resource, including inherited ones. Many policies ask for them. */
function heldRoles(question: Question): ReadonlySet<number> {
  if (question.held !== undefined) return question.held;
  const { roles } = question.model;
  const held = new Set<number>();
  const isKnown = question.model.isKnown(A, question.subject);
  firstRole(question, (number) => {
    const entry = roles.byNumber(number);
    if (entry === undefined || held.has(number)) return undefined;
    for (const one of roles.chain(entry)) held.add(one.number);
    return undefined;
  });
  if (!isKnown) return none;
  question.request.spend(held.size * roleWork);
  return (question.held = held);
}

/** Returns the numbers of the roles that apply to the question, in the order in which they are considered. */
export function applicableRoles(question: Question): number[] {
  const found = new Set<number>();
  firstRole(question, (role) => {
    if (question.model.roles.byNumber(role) !== undefined) found.add(role);
    return undefined;
  });
  return [...found];
}

/** Yields the unexpired assignments of a subject whose slice is known, whatever their scope. */
export function* assignedRoles({ model, subject, now }: Question) {
  if (subject < 0) return;
  const { assignments, nodes } = model.facts;
  for (const row of model.facts.assignmentsOf(subject)) {
    const scope = assignments.right[row]!;
    if (assignments.expires[row]! > now) {
      yield { role: assignments.role[row]!, scope: { type: nodes.typeOf(scope), id: nodes.idOf(scope) } };
    }
  }
}

/**
 * Goes through the subject's roles that apply to the resource: those scoped to it, to its type, then to everything, each by id;
 * then the default roles of a user. Reports the slice to the question when it is missing.
 */
function firstRole<Found>(question: Question, find: (role: number) => Found | undefined): Found | undefined {
  const { model, input, subject, resourceId } = question;
  const { facts } = model;
  if (!model.isKnown(A, subject)) {
    question.request.need({ slice: 'A', subject_kind: input.subject_kind, subject_id: input.subject_id });
    return undefined;
  }
  if (subject >= 0 && facts.nodes.grants[subject]! >= 0) {
    const type = facts.strings.find(input.resource_type);
    const ofType = facts.nodes.find(type, facts.none, facts.any);
    const resource =
      resourceId === '' ? -1 : facts.nodes.find(type, facts.none, facts.strings.find(resourceId));
    const found =
      inScope(facts, question, resource, find) ??
      inScope(facts, question, ofType, find) ??
      inScope(facts, question, facts.everything, find);
    if (found !== undefined) return found;
  }
  if (input.subject_kind !== 'user') return undefined;
  for (const { number } of model.roles.defaults()) {
    const found = find(number);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inScope<Found>(
  { assignments }: Facts,
  { subject, now }: Question,
  scope: number,
  find: (role: number) => Found | undefined,
): Found | undefined {
  const head = scope < 0 ? -1 : assignments.find(subject, scope);
  if (head < 0) return undefined;
  let row = head;
  do {
    if (assignments.expires[row]! > now) {
      const found = find(assignments.role[row]!);
      if (found !== undefined) return found;
    }
    row = assignments.byRight.next[row]!;
  } while (row !== head);
  return undefined;
}
