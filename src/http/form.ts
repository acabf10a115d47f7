import { isUtf8 } from 'node:buffer';
import { Invalid } from '../lib/errors.ts';
import { checkText } from './text.ts';

/** Reads an `application/x-www-form-urlencoded` body. A repeated field is an error, because which one counts would be a guess. */
export function parseForm(bytes: Buffer): Record<string, string> {
  if (!isUtf8(bytes)) throw Invalid('body: must be UTF-8');
  const fields: Record<string, string> = {};
  for (const [name, value] of pairs(bytes.toString('utf8'), 'body')) {
    if (Object.hasOwn(fields, name)) throw Invalid(`${name}: given more than once`);
    Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return fields;
}

/** The most parameters of a query string or form. No operation has a tenth as many. */
const mostPairs = 1000;

/** Yields the decoded name and value of each pair of a query string or form; `whole` names the text in errors. */
export function* pairs(text: string, whole: string): Generator<[name: string, value: string]> {
  checkCount(text, whole);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), whole);
    checkText(name, whole);
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), name);
    checkText(value, name);
    yield [name, value];
  }
}

/** Counts the parameters before any is decoded: decoding 170,000 pairs only to refuse them would take a second. */
function checkCount(text: string, whole: string): void {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1))
    if (++count > mostPairs) throw Invalid(`${whole}: must have at most ${mostPairs} parameters`);
}

function decode(text: string, field: string): string {
  try {
    return text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text;
  } catch {
    throw Invalid(`${field}: malformed percent-encoding`);
  }
}
