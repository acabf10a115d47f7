import type { Pacing, Suspension } from './pacing.ts';
import type { CompiledPolicy } from './policies.ts';
import type { IndexedPolicy } from './policy-index.ts';
import type { Question } from './question.ts';
import { applicableRoles, assignedRoles } from './rbac.ts';
import type { Grants } from './rbac.ts';

/** Roles processed between two checks of the clock. */
const rolesPerLook = 1_000;

/** What a subject holds through its roles in any scope. */
export interface HeldAnywhere {
  /** The policies that cover the subject by a role that it holds or inherits. */
  readonly byRole: ReadonlySet<CompiledPolicy>;
  /** Ids of the resources on which a role assigned there grants the action. */
  readonly scopes: ReadonlySet<string>;
}

/**
 * Collects what a subject holds in any scope. A subject may hold very many roles and policies may name very many, so each is
 * examined once, with pauses.
 */
export function* heldAnywhere(
  question: Question,
  grants: Grants,
  policies: readonly IndexedPolicy[],
  pacing: Pacing,
): Suspension<HeldAnywhere> {
  const { roles } = question.model;
  const { resource_type } = question.input;
  const held = new Set<number>();
  const note = (number: number) => {
    const entry = held.has(number) ? undefined : roles.byNumber(number);
    if (entry !== undefined) for (const one of roles.chain(entry)) held.add(one.number);
  };
  applicableRoles(question).forEach(note);
  const scopes = new Set<string>();
  let looked = 0;
  for (const { role, scope } of assignedRoles(question)) {
    if (++looked % rolesPerLook === 0) yield* pacing.pause();
    note(role);
    if (scope.type === resource_type && scope.id !== '*' && grants.by(role) !== undefined)
      scopes.add(scope.id);
  }
  const holds = (slug: string) => {
    const wanted = roles.bySlug(slug);
    return wanted !== undefined && held.has(wanted.number);
  };
  const byRole = new Set<CompiledPolicy>();
  for (const { policy } of policies) {
    if ((looked += policy.roles.length) >= rolesPerLook) {
      looked = 0;
      yield* pacing.pause();
    }
    if (policy.roles.some(({ slug }) => holds(slug))) byRole.add(policy);
  }
  return { byRole, scopes };
}
