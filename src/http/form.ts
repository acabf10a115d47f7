import { isUtf8 } from 'node:buffer';
import { Invalid } from '../lib/errors.ts';
import { checkText } from './text.ts';

/** Reads an `application/x-www-form-urlencoded` body. A field given twice is an error: which one counts is a guess. */
export function parseForm(bytes: Buffer): Record<string, string> {
  if (!isUtf8(bytes)) throw Invalid('body: must be UTF-8');
  const fields: Record<string, string> = {};
  for (const [name, value] of pairs(bytes.toString('utf8'), 'body')) {
    if (Object.hasOwn(fields, name)) throw Invalid(`${name}: given more than once`);
    Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return fields;
}

/** Name and value of each pair of a query string or form, decoded; `whole` names the text in errors. */
export function* pairs(text: string, whole: string): Generator<[name: string, value: string]> {
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

function decode(text: string, field: string): string {
  try {
    return text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text;
  } catch {
    throw Invalid(`${field}: malformed percent-encoding`);
  }
}
