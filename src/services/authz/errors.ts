import type { Constraints } from '../../db/constraints.ts';
import { Conflict, type DomainError } from '../../lib/errors.ts';

/** The error envelope of the service. A decision that enforce refused adds its members. */
export function encodeError(error: DomainError, status: number) {
  return { error: { code: status, message: error.message }, ...error.details };
}

/** What the violation of a constraint means to the caller. */
export const constraints: Constraints = {
  roles_slug: () => Conflict('role slug already exists'),
  permissions_name: () => Conflict('permission name already exists'),
  role_permissions_once: () => Conflict('permission already attached'),
  policies_name: () => Conflict('policy name already exists'),
  resource_types_name: () => Conflict('resource type already exists'),
};

/** What a tenant may hold; refused with 409 beyond it. Assignments and tuples are not limited. */
const limits = {
  roles: [10_000, 'roles'],
  permissions: [10_000, 'permissions'],
  policies: [2_000, 'policies'],
  types: [500, 'resource types'],
} as const;

export const PERMISSIONS_PER_ROLE = 1_000;

/** Refuses one more of what the tenant already has `count` of. */
export function checkLimit(of: keyof typeof limits, count: number): void {
  const [limit, entities] = limits[of];
  if (count >= limit) throw LimitReached(limit, entities);
}

export const LimitReached = (limit: number, entities: string) =>
  Conflict(`limit reached: ${limit} ${entities}`);
