import { Invalid } from '../../lib/errors.ts';
import { holdScopes } from './validation/scopes.ts';

/** Maximum number of scopes on a key. */
const most = 100;

/** Returns names as a key holds them: each once, sorted. */
export const sortedNames = (names: Iterable<string>): string[] => [...new Set(names)].sort();

/** Returns the names of both lists. @throws Invalid when a key cannot hold that many */
export function joined(held: readonly string[], added: readonly string[]): string[] {
  const names = sortedNames([...held, ...added]);
  if (names.length > most) throw Invalid(`scopes: a key holds at most ${most}`);
  return names;
}

/** Returns the names in `names` that are not in `others`. */
export function without(names: readonly string[], others: readonly string[]): string[] {
  const excluded = new Set(others);
  return names.filter((name) => !excluded.has(name));
}

/**
 * Checks that a policy allows the scopes; an empty list allows all.
 * @throws Invalid naming the first scope that the policy does not allow
 */
export function checkAllowed(allowed: readonly string[], names: readonly string[]): void {
  if (allowed.length === 0) return;
  const held = holdScopes(allowed);
  const outside = names.find((name) => !held.covers(name));
  if (outside !== undefined) throw Invalid(`scopes: the policy does not allow ${outside}`);
}
