import { isUtf8 } from 'node:buffer';
import { Invalid } from '../lib/errors.ts';
import { jsonObjection } from './json-objection.ts';
import { scanJson } from './json-scan.ts';
import type { Body } from './operation.ts';
import { checkJsonText } from './text.ts';

/** The texts of the bodies in use. */
const texts = new WeakMap<object, string>();

/** The text from which a body was parsed, for operations that keep a part of it as it was sent. Undefined for anything but a whole body. */
export const jsonTextOf = (body: object): string | undefined => texts.get(body);

/** Where a body contains values with rules of their own. */
type Special = Pick<Body, 'anyTexts' | 'exactNumbers'>;

/** Reads a JSON body. Throws `Invalid`, which names the problem but repeats no value of the body. */
export function parseJson(bytes: Buffer, most: number, { anyTexts, exactNumbers }: Special = {}): unknown {
  if (!isUtf8(bytes)) throw Invalid('body: must be UTF-8');
  const { members, riskyNumbers } = scanJson(bytes, most);
  const text = bytes.toString('utf8');
  const value = parse(text);
  checkJsonText(text, value, anyTexts);
  // Only a suspicious text is examined closely, because that costs much more than parsing.
  const objection =
    riskyNumbers || countMembers(value) < members ? jsonObjection(text, exactNumbers) : undefined;
  if (objection !== undefined) throw Invalid(objection);
  if (typeof value === 'object' && value !== null) texts.set(value, text);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw Invalid('body: not valid JSON');
  }
}

/** Counts the members that the parser created. The scan has bounded the depth of this recursion. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countMembers(item);
  else for (const name in value) count += 1 + countMembers((value as Record<string, unknown>)[name]);
  return count;
}
