import { Invalid } from '../../lib/errors.ts';
import { holdScopes } from './validation/scopes.ts';

/** Most scopes that a key holds. */
const most = 100;

/** Names as a key holds them: each once, sorted. */
export const sortedNames = (names: Iterable<string>): string[] => [...new Set(names)].sort();

/** The names of both. @throws Invalid when they are more than a key holds. */
export function joined(held: readonly string[], added: readonly string[]): string[] {
  const names = sortedNames([...held, ...added]);
  if (names.length > most) throw Invalid(`scopes: a key holds at most ${most}`);
  return names;
}

/** The names of `names` that are not among `others`. */
export function without(names: readonly string[], others: readonly string[]): string[] {
  const excluded = new Set(others);
  return names.filter((name) => !excluded.has(name));
}

/** @throws Invalid naming the first scope that the policy does not allow its keys; an empty list allows all. */
export function checkAllowed(allowed: readonly string[], names: readonly string[]): void {
  if (allowed.length === 0) return;
  const held = holdScopes(allowed);
  const outside = names.find((name) => !held.covers(name));
  if (outside !== undefined) throw Invalid(`scopes: the policy does not allow ${outside}`);
}
