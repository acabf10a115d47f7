import { LimitReached } from './errors.ts';

/** The most that a tenant may hold. Beyond it the service answers 409. Assignments and tuples are not limited. */
const limits = {
  roles: [10_000, 'roles'],
  permissions: [10_000, 'permissions'],
  policies: [2_000, 'policies'],
  types: [500, 'resource types'],
} as const;

export const mostPermissionsPerRole = 1_000;

/** Rejects one more entity when the tenant already has `count` of them. */
export function checkLimit(of: keyof typeof limits, count: number): void {
  const [limit, entities] = limits[of];
  if (count >= limit) throw LimitReached(limit, entities);
}

/** Limits on a tenant's policies and resource types in total. */
const totals = {
  wildcards: [20_000, 'wildcards of policies'],
  instructions: [200_000, 'instructions of regular expressions'],
  policyBytes: [16_777_216, 'bytes of policies'],
  typeBytes: [67_108_864, 'bytes of resource types'],
} as const;

/** Rejects a value that would exceed the total together with the others. A value that does not grow is never rejected. */
export function checkTotal(of: keyof typeof totals, others: number, own: number, before: number): void {
  const [limit, entities] = totals[of];
  if (own > before && others + own > limit) throw LimitReached(limit, entities);
}
