/**
 * JSON values compared as texts: two values have the same text exactly when they are equal, regardless of member order. A value
 * from a request is compared with every policy, so texts of objects and arrays are cached as long as the object lives.
 */
const texts = new WeakMap<object, string>();
const members = new WeakMap<readonly unknown[], ReadonlySet<string>>();

export function textOf(value: unknown): string {
  // Numbers are formatted directly: JSON has no infinity and would turn it into null.
  if (typeof value === 'number') return value === 0 ? '0' : String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  let text = texts.get(value);
  if (text === undefined) {
    text = Array.isArray(value)
      ? `[${value.map(textOf).join(',')}]`
      : `{${Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`)
          .join(',')}}`;
    texts.set(value, text);
  }
  return text;
}

/** The texts of an array's elements. */
export function membersOf(array: readonly unknown[]): ReadonlySet<string> {
  let set = members.get(array);
  if (set === undefined) members.set(array, (set = new Set(array.map(textOf))));
  return set;
}

export const areEqual = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && textOf(a) === textOf(b));
