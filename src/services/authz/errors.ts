import type { Constraints } from '../../db/constraints.ts';
import { Conflict, type DomainError } from '../../lib/errors.ts';

/** Encodes the service's error envelope. A decision that enforce denied adds its members. */
export function encodeError(error: DomainError, status: number) {
  return { error: { code: status, message: error.message }, ...error.details };
}

/** The error that the caller receives when a constraint is violated. */
export const constraints: Constraints = {
  roles_slug: () => Conflict('role slug already exists'),
  permissions_name: () => Conflict('permission name already exists'),
  role_permissions_once: () => Conflict('permission already attached'),
  policies_name: () => Conflict('policy name already exists'),
  resource_types_name: () => Conflict('resource type already exists'),
};

/** The tenant, or the role, has as much as it may have. `entities` is a plural. */
export const LimitReached = (limit: number, entities: string) =>
  Conflict(`limit reached: ${limit} ${entities}`);
