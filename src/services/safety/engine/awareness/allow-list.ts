import { fold } from '../views/folding.ts';
import { textOf } from '../views/view.ts';

/** The forms in which an allowed text and a found one are compared: folded, and without separators. */
function formsOf(text: string): [string, string] {
  const folded = textOf(fold(text)).trim();
  return [folded, folded.replace(/[\s()-]/g, '')];
}

export const allowedForms = (list: readonly string[]): ReadonlySet<string> => new Set(list.flatMap(formsOf));

/** The longest text that can be allowed, with separators. */
const longest = 1_024;

export function isAllowed(allowed: ReadonlySet<string>, raw: string, normalised?: string): boolean {
  if (allowed.size === 0 || raw.length > longest) return false;
  return [raw, normalised ?? raw].some((text) => formsOf(text).some((form) => allowed.has(form)));
}
