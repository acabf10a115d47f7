/** What a code unit of a folded view is: bits, kept in a table because every unit of a text is looked up. */
export const latin = 1;
export const cyrillicOrGreek = 2;
export const otherLetter = 4;
export const digit = 8;
/** Letters of scripts that are written without spaces, in which a word has no visible bounds. */
export const unspaced = 16;
const known = 128;

const letterPattern = /^[\p{L}\p{M}]$/u;
const digitPattern = /^\p{Nd}$/u;
const unspacedPattern =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]$/u;
const latinPattern = /^\p{Script=Latin}$/u;
const lookAlikePattern = /^[\p{Script=Cyrillic}\p{Script=Greek}]$/u;

const kinds = new Uint8Array(65_536);

/** The kind of a code unit; 0 for what is neither letter nor digit. */
export function kindOf(code: number): number {
  const kind = kinds[code]!;
  return kind === 0 ? learn(code) : kind & ~known;
}

function learn(code: number): number {
  const text = String.fromCharCode(code);
  let kind = 0;
  if (digitPattern.test(text)) kind = digit;
  else if (unspacedPattern.test(text)) kind = otherLetter | unspaced;
  else if (letterPattern.test(text))
    kind = latinPattern.test(text) ? latin : lookAlikePattern.test(text) ? cyrillicOrGreek : otherLetter;
  kinds[code] = kind | known;
  return kind;
}

export const letters = latin | cyrillicOrGreek | otherLetter;
/** What continues a word. Halves of pairs do not: most of them are emoji. */
export const wordKinds = letters | digit;

export const isWordCode = (code: number): boolean => (kindOf(code) & wordKinds) !== 0;
