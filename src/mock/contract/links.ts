/** How records are identified: by paths, and by the records below them. */
import type { Schema } from './document.ts';
import type { Item, Resource } from './plans.ts';

/** Returns the members of the parameter's own kind, or else the id and the members whose example equals the parameter's. */
export function keysOf({ members, example }: Resource, { $ref }: Schema, text: string): string[] {
  const names = Object.keys(members);
  const same = names.filter((name) => $ref !== undefined && members[name]!.$ref === $ref);
  if (same.length > 0) return same;
  const equal = names.filter((name) => example[name] === text);
  return equal.length > 0 ? [...new Set(['id', ...equal])].filter((name) => name in members) : [];
}

/**
 * Returns the members of a record that link it to the item above it: the first with the same kind as the item's key or the same
 * example value, and those that repeat one of its names (`agent_id` and `agent_name`).
 */
export function linksTo({ members, example }: Resource, { keys, resource: above }: Item): string[] {
  const kinds = new Set(keys.map((key) => above.members[key]?.$ref).filter((kind) => kind !== undefined));
  const values = new Set(keys.map((key) => above.example[key]));
  const candidates = Object.keys(members).filter((name) => name !== 'id' && name !== 'name');
  const isSame = (name: string) => typeof example[name] === 'string' && values.has(example[name]);
  const first = candidates.find((name) => kinds.has(members[name]!.$ref ?? '')) ?? candidates.find(isSame);
  const repeats = candidates.filter((name) => isSame(name) && keys.some((key) => name.endsWith(`_${key}`)));
  return [...new Set([...(first === undefined ? [] : [first]), ...repeats])];
}
