/** A token in a text: a label, and ten or sixteen characters of Crockford's base32. */
const form = /\[([A-Z0-9_]{1,32}_(?:[0-9a-hjkmnp-tv-z]{16}|[0-9a-hjkmnp-tv-z]{10}))\]/g;

/** The tokens in a text, each once. */
export const tokensIn = (text: string): string[] => [
  ...new Set(Array.from(text.matchAll(form), ([, token]) => token!)),
];

export interface Restored {
  readonly text: string;
  readonly restored: number;
  readonly missing: number;
}

/** Puts originals in place of their tokens; the tokens without one stay. Returns undefined when the text would get too long. */
export function restored(
  text: string,
  originals: ReadonlyMap<string, string>,
  mostCharacters: number,
): Restored | undefined {
  let length = text.length;
  let count = 0;
  let missing = 0;
  for (const [whole, token] of text.matchAll(form)) {
    const original = originals.get(token!);
    if (original === undefined) missing++;
    else {
      count++;
      length += original.length - whole.length;
    }
  }
  if (length > mostCharacters) return undefined;
  const replaced = text.replaceAll(form, (whole, token: string) => originals.get(token) ?? whole);
  return { text: replaced, restored: count, missing };
}
