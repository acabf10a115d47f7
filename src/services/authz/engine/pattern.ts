import { Invalid } from '../../../lib/errors.ts';

const MAX_LENGTH = 256;
const MAX_STARS = 4;

/**
 * Whether a Pattern covers a text: each `*` stands for any run of characters (also none), everything else is literal.
 * Two pointers with one point of return: O(text × stars), whatever the pattern.
 */
export function matches(pattern: string, text: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.includes('*')) return pattern === text;
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Throws `Invalid('<field>: …')` unless the text is a Pattern (1-256 characters, at most 4 `*`). */
export function checkPattern(text: string, field: string): void {
  if (text === '') throw Invalid(`${field}: empty`);
  if (text.length > MAX_LENGTH) throw Invalid(`${field}: longer than ${MAX_LENGTH}`);
  if (text.split('*').length - 1 > MAX_STARS) throw Invalid(`${field}: more than ${MAX_STARS} *`);
}
