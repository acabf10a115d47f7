/** Texts for which the order of UTF-16 units may differ from the order of code points. */
const highCharacters = /[\ud800-\uffff]/;

/** Compares by code points, as `collate "C"` does in the database. UTF-16 orders U+E000–U+FFFF after all other characters. */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  if (!highCharacters.test(a) || !highCharacters.test(b)) return a < b ? -1 : 1;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Returns the distinct texts greater than `after`, in code-point order. */
export function inOrder(texts: Iterable<string>, after: string | undefined): string[] {
  const distinct = [...new Set(texts)];
  const rest = after === undefined ? distinct : distinct.filter((text) => compareCodePoints(text, after) > 0);
  return rest.some((text) => highCharacters.test(text)) ? rest.sort(compareCodePoints) : rest.sort();
}
