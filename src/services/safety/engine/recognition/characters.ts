/** Classes of ASCII characters, as bits, so that a test of a character is one look-up. */
export const digit = 1;
export const upper = 2;
export const lower = 4;
export const underscore = 8;
export const hyphen = 16;
/** `+` and `/`, the last two digits of base64. */
export const base64Sign = 32;
export const dot = 64;
export const hexLetter = 128;

export const letter = upper | lower;
export const alphanumeric = digit | letter;
export const urlSafe = alphanumeric | underscore | hyphen;

const classes = new Uint8Array(128);
const assign = (characters: string, bits: number) => {
  for (const each of characters) classes[each.charCodeAt(0)]! |= bits;
};
assign('0123456789', digit);
assign('ABCDEFGHIJKLMNOPQRSTUVWXYZ', upper);
assign('abcdefghijklmnopqrstuvwxyz', lower);
assign('_', underscore);
assign('-', hyphen);
assign('+/', base64Sign);
assign('.', dot);
assign('abcdefABCDEF', hexLetter);

/** The classes of a code unit; 0 outside ASCII and outside the text, where `charCodeAt` is NaN. */
export const classOf = (unit: number): number => (unit < 128 ? classes[unit]! : 0);

/** Where the run of characters of these classes that contains `from` ends, looking at most `most` characters ahead. */
export function runEnd(text: string, from: number, bits: number, most: number): number {
  const last = Math.min(text.length, from + most);
  let at = from;
  while (at < last && (classOf(text.charCodeAt(at)) & bits) !== 0) at++;
  return at;
}

/** Where the run of characters of these classes that ends at `until` begins, looking at most `most` characters back. */
export function runStart(text: string, until: number, bits: number, most: number): number {
  const first = Math.max(0, until - most);
  let at = until;
  while (at > first && (classOf(text.charCodeAt(at - 1)) & bits) !== 0) at--;
  return at;
}

/**
 * Whether a unit belongs to an alphabet in which words are set apart by spaces: a form that touches such a letter is part of a
 * word. Chinese, Japanese, Korean and Thai text touches numbers that stand for themselves.
 */
export const isSpacedLetter = (unit: number): boolean =>
  (classOf(unit) & letter) !== 0 || (unit >= 0xc0 && unit <= 0x5ff && unit !== 0xd7 && unit !== 0xf7);

/** Whether a unit is part of a word; exact for ASCII, by blocks beyond. */
export const isWordUnit = (unit: number): boolean =>
  unit < 128
    ? (classOf(unit) & alphanumeric) !== 0
    : unit >= 0xc0 &&
      unit !== 0xd7 &&
      unit !== 0xf7 &&
      !(unit >= 0x2000 && unit <= 0x2bff) &&
      !(unit >= 0x3000 && unit <= 0x303f) &&
      !(unit >= 0xd800 && unit <= 0xf8ff) &&
      unit < 0xfe00;
