import { Invalid } from '../../../lib/errors.ts';
import { RoleCycle } from '../errors.ts';

/** Maximum number of roles that a role may inherit from, directly and indirectly. */
export const mostAncestors = 8;

/**
 * Checks a new parent. `chain` is the parent and its ancestors; `height` is the number of steps in the longest chain of roles
 * that inherit from the changed one.
 */
export function checkChain(roleId: string, chain: readonly string[], height: number): void {
  if (chain.includes(roleId)) throw RoleCycle();
  if (chain.length + height > mostAncestors) throw Invalid(`parent_id: more than ${mostAncestors} ancestors`);
}
