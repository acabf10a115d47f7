import { Invalid } from '../lib/errors.ts';

/**
 * What PostgreSQL cannot store or would merge: U+0000 and halves of surrogate pairs. They are refused at the door, so
 * that no service has to think of them.
 */
export function checkText(text: string, field: string): void {
  if (text.includes('\0')) throw Invalid(`${field}: must not contain U+0000`);
  if (!text.isWellFormed()) throw Invalid(`${field}: must not contain a lone surrogate`);
}

/** In JSON both can only be written as escapes: most bodies have none, and are not walked. */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/;

/** Checks every text and member name of a parsed body against its raw text; the error names the field. */
export function checkJsonText(raw: string, value: unknown): void {
  if (!suspicious.test(raw)) return;
  const open: [value: unknown, path: string][] = [[value, '']];
  for (let next = open.pop(); next; next = open.pop()) {
    const [found, path] = next;
    if (typeof found === 'string') checkText(found, path || 'body');
    else if (Array.isArray(found)) found.forEach((item, index) => open.push([item, `${path}[${index}]`]));
    else if (typeof found === 'object' && found !== null) {
      for (const [name, member] of Object.entries(found)) {
        checkText(name, path ? `${path}: a member name` : 'body: a member name');
        open.push([member, path ? `${path}.${name}` : name]);
      }
    }
  }
}
