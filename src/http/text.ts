import { Invalid } from '../lib/errors.ts';
import { clipped } from './clipped.ts';
import type { Places } from './operation.ts';
import { placesInItems, placesInMember } from './places.ts';

/**
 * Refuses characters that PostgreSQL cannot store or would merge: U+0000 and lone surrogates. They are refused on arrival, so
 * that no service has to handle them.
 */
export function checkText(text: string, field: string): void {
  if (text.includes('\0')) throw Invalid(`${field}: must not contain U+0000`);
  if (!text.isWellFormed()) throw Invalid(`${field}: must not contain a lone surrogate`);
}

/** In JSON both can only be written as escapes: most bodies have none and need no check of every value. */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/;

/**
 * Checks every string and member name of a parsed body, when its raw text has suspicious escapes; the error names the field.
 * Strings at the places `anyTexts` may be of any characters.
 */
export function checkJsonText(raw: string, value: unknown, anyTexts?: Places): void {
  if (!suspicious.test(raw)) return;
  const open: [value: unknown, path: string, free: Places | undefined][] = [[value, '', anyTexts]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [found, path, free] = next;
    if (typeof found === 'string') {
      if (free !== true) checkText(found, path || 'body');
    } else if (Array.isArray(found)) {
      found.forEach((item, index) => open.push([item, `${path}[${index}]`, placesInItems(free)]));
    } else if (typeof found === 'object' && found !== null) {
      for (const [name, member] of Object.entries(found)) {
        checkText(name, path ? `${path}: a member name` : 'body: a member name');
        open.push([member, path ? `${path}.${clipped(name)}` : clipped(name), placesInMember(free, name)]);
      }
    }
  }
}
