/** Content types and ranges of them: `text/*` covers `text/csv`, and `text/csv` covers `text/csv; header=present`. */

/** Returns the entry of a content for a type: the one under its name, or under the narrowest range that covers it. */
export function ofType<Value>(content: Readonly<Record<string, Value>>, type: string): Value | undefined {
  const covering = Object.keys(content).filter((range) => covers(range, type));
  covering.sort((a, b) => b.length - a.length);
  return content[covering[0] ?? ''];
}

export function covers(range: string, type: string): boolean {
  const [wide, ...asked] = parts(range);
  const [narrow, ...given] = parts(type);
  const pattern = (wide ?? '').split('*').map((text) => text.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return (
    new RegExp(`^${pattern.join('.*')}$`).test(narrow ?? '') && asked.every((one) => given.includes(one))
  );
}

const parts = (type: string): string[] =>
  type
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
