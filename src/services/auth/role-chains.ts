import { Invalid } from '../../lib/errors.ts';
import { RoleCycle } from './errors.ts';

/** How many other roles a role may inherit from, one through the other. */
export const mostAncestors = 8;

/**
 * Judges a new parent. `chain` is the parent and what it inherits from; `height` is how many steps the longest line of roles
 * has that inherit from the changed one.
 */
export function checkChain(roleId: string, chain: readonly string[], height: number): void {
  if (chain.includes(roleId)) throw RoleCycle();
  if (chain.length + height > mostAncestors) throw Invalid(`parent_id: more than ${mostAncestors} ancestors`);
}
