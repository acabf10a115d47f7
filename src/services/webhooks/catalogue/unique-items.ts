/**
 * Whether two items are equal as JSON Schema understands it: objects whatever the order of their keys, numbers by their value.
 * Comparing texts takes linear time, where comparing every pair would take minutes for arrays that a request may hold.
 * @param spend is told the work
 */
export function hasRepeatedItem(items: readonly unknown[], spend: (units: number) => void): boolean {
  const seen = new Set<string>();
  return items.some((item) => {
    const text = JSON.stringify(item, sortedKeys);
    spend(1 + text.length / 2);
    const repeated = seen.has(text);
    seen.add(text);
    return repeated;
  });
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
