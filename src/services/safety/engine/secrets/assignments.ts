import {
  alphanumeric,
  base64Sign,
  classOf,
  dot,
  hyphen,
  letter,
  runEnd,
  runStart,
  underscore,
} from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';
import { entropy } from './entropy.ts';
import { isPlaceholder } from './placeholders.ts';
import { addSecretKey } from './tokens.ts';

const longestName = 64;
const shortestValue = 12;
const longestValue = 128;
/** Passwords are chosen by people: shorter ones count if they mix more. */
const shortestPassword = 8;
const leastEntropy = 3.5;
const leastEntropyOfShort = 2.5;
const nameCharacters = alphanumeric | underscore | hyphen | dot;

const secretName =
  /passw(?:or)?d|passwort|pwd|passphrase|secret|token|api[_.-]?key|access[_.-]?key|auth[_.-]?key|private[_.-]?key|encryption[_.-]?key|signing[_.-]?key|credential|contraseña|motdepasse/;
/** `pass` by itself, which is a part of many other words. */
const passWord = /(?:^|[_.-])pass(?:$|[_.-])/;
/** Names that speak of a secret without holding one. */
const describingName =
  /(?:_|-|\.|^)(?:id|ids|uuid|name|type|url|uri|path|file|length|count|limit|policy|hint|field|expiry|expires|ttl|hash|env|class|usage|tokens|index)$/;
const passwordName = /pass|pwd/i;
const azureName = /account[_.-]?key/i;
const awsName = /aws.{0,24}secret|secret[_.-]?access[_.-]?key/i;
/** In a query, the next name ends a value; in a password, `&` is a sign like others. */
const nextParameter = /^&[A-Za-z_][A-Za-z0-9_.-]{0,31}=/;
const azureForm = /^[A-Za-z0-9+/]{86}==/;
/** A quotation mark; in JSON within JSON it is escaped, once for every level. */
const openingQuote = /\\{0,7}["'`]|\\{1,7}u0022/y;

/** Recognises a secret that is assigned to a name, at the `=` or `:` between them. */
export function recogniseAssignment(scan: Scan, sign: number): void {
  const { text } = scan;
  const name = nameBefore(text, sign);
  if (name === '') return;
  scan.work += name.length * 3;
  const isAzure = azureName.test(name);
  if (!isAzure && !namesSecret(name)) return;
  const { start, quote } = valueStart(text, sign + 1);
  if (isAzure && azureForm.test(text.slice(start, start + 88))) {
    scan.add('secret.azure_storage_key', start, start + 88, text.slice(start, start + 88));
    return;
  }
  const end = valueEnd(text, start, quote);
  scan.work += end - start;
  if (awsName.test(name) && runEnd(text, start, alphanumeric | base64Sign, 41) === start + 40)
    addSecretKey(scan, start, start + 40);
  addValue(scan, name, start, end, quote !== '');
}

/** Recognises the value behind an option that names a secret, `--password value`, at its first hyphen. */
export function recogniseOption(scan: Scan, at: number): void {
  const { text } = scan;
  if (text.charCodeAt(at + 1) !== 45 || (classOf(text.charCodeAt(at + 2)) & letter) === 0) return;
  if (text.charCodeAt(at - 1) > 64 || text.charCodeAt(at - 1) === 45) return;
  const end = runEnd(text, at + 2, nameCharacters, longestName);
  scan.work += end - at;
  if (end === at + 2 || text.charCodeAt(end) !== 32) return;
  const name = text.slice(at + 2, end);
  if (!namesSecret(name)) return;
  const { start, quote } = valueStart(text, end + 1);
  if (/[-$[(]/.test(text.charAt(start))) return;
  const until = valueEnd(text, start, quote);
  scan.work += until - start;
  addValue(scan, name, start, until, quote !== '');
}

/** Recognises the content of an element that names a secret, `<password>…</password>`, at its `<`. */
export function recogniseElement(scan: Scan, at: number): void {
  const { text } = scan;
  const end = runEnd(text, at + 1, nameCharacters, longestName);
  scan.work += end - at;
  if (end === at + 1 || text.charCodeAt(end) !== 62) return;
  const name = text.slice(at + 1, end);
  if (!namesSecret(name)) return;
  const content = text.slice(end + 1, end + longestValue + 32);
  scan.work += content.length;
  const [, before, value] =
    /^(\s{0,16}(?:<!\[CDATA\[)?)([^\s<>]{1,128}?)(?:\]\]>)?\s{0,16}<\//.exec(content) ?? [];
  if (value === undefined) return;
  const start = end + 1 + before!.length;
  addValue(scan, name, start, start + value.length, true);
}

/** Whether a name is that of a secret; most are not, which is seen before they are divided into words. */
function namesSecret(name: string): boolean {
  const lower = name.toLowerCase();
  const isSecret = secretName.test(lower);
  if (!isSecret && !lower.includes('pass')) return false;
  const words = inWords(name);
  return (isSecret || passWord.test(words)) && !describingName.test(words);
}

function addValue(scan: Scan, name: string, start: number, end: number, isQuoted: boolean): void {
  const length = end - start;
  const shortest = passwordName.test(name) ? shortestPassword : shortestValue;
  if (length < shortest || length > longestValue) return;
  const value = scan.text.slice(start, end);
  const isShort = length < shortestValue;
  if (entropy(value) < (isShort ? leastEntropyOfShort : leastEntropy)) return;
  if (isPlaceholder(value) || !isSecretValue(value, isQuoted) || (isShort && !isVaried(value))) return;
  scan.add('secret.generic_assignment', start, end, value.normalize('NFC'));
}

/** The name before the sign; quotation marks, a type and spaces may stand between them. */
function nameBefore(text: string, sign: number): string {
  let end = sign;
  while (end > 0 && sign - end < 3 && text.charAt(end - 1) === ' ') end--;
  end = beforeQuote(text, end);
  if (text.charAt(end - 1) === ']') end = beforeQuote(text, end - 1);
  if (text.charAt(end - 1) === ':') end--;
  const start = runStart(text, end, nameCharacters, longestName);
  const name = text.slice(start, end);
  // Behind a backslash the first letter is that of an escape: `\nDB_PASS`.
  return text.charCodeAt(start - 1) === 92 ? name.replace(/^(?:u0022|[nrt])/, '') : name;
}

/** Where a quotation mark that ends here begins, with the backslashes that escape it; `end` when there is none. */
function beforeQuote(text: string, end: number): number {
  let at = end;
  if (/["'`]/.test(text.charAt(end - 1))) at = end - 1;
  else if (text.charCodeAt(end - 1) === 0x32 && text.startsWith('\\u0022', end - 6)) at = end - 5;
  else return end;
  while (at > end - 12 && text.charAt(at - 1) === '\\') at--;
  return at;
}

/** `dbPassword` is `db_password`. */
const inWords = (name: string): string => name.replace(/([a-z0-9])(?=[A-Z])/g, '$1_').toLowerCase();

function valueStart(text: string, from: number): { start: number; quote: string } {
  let at = from;
  while (at < from + 2 && /[=>]/.test(text.charAt(at))) at++;
  for (const limit = at + 4; at < limit && text.charAt(at) === ' ';) at++;
  openingQuote.lastIndex = at;
  const quote = openingQuote.exec(text)?.[0] ?? '';
  return { start: at + quote.length, quote };
}

/** A quoted value ends at its quotation mark, another one at white space, an escape, or a mark that ends a statement. */
function valueEnd(text: string, from: number, quote: string): number {
  const last = Math.min(text.length, from + longestValue + 1);
  let at = from;
  for (; at < last; at++) {
    const one = text.charAt(at);
    if (quote !== '') {
      if (one === '\n' || text.startsWith(quote, at)) break;
    } else if (one === '&' ? nextParameter.test(text.slice(at, at + 34)) : /[\s"'`,;)\]}|]/.test(one)) break;
    else if (one === '\\' && /^\\+(?:["'nrt]|u0022)/.test(text.slice(at, at + 14))) break;
  }
  return at;
}

/**
 * Tells a secret from an expression, a name or a sentence: it mixes letters with digits, has no spaces and no calls, and is no
 * chain of words.
 */
function isSecretValue(value: string, quoted: boolean): boolean {
  if (/[\s(){}]/.test(value)) return false;
  if (!/[A-Za-z]/.test(value) || !/[0-9]/.test(value)) return false;
  if (/^(?:https?:|\/|\.\/|~\/)/i.test(value)) return false;
  const digits = countOf(value, (unit) => unit >= 48 && unit <= 57);
  const isIdentifier = /^[A-Za-z_$][A-Za-z0-9_$.[\]-]*$/.test(value);
  // `getTokenV2FromRequest` and `config.auth.token1` are names; a secret has more than a digit or two among its letters.
  if (isIdentifier && !quoted && (value.includes('.') || value.includes('['))) return false;
  return !isIdentifier || digits >= 3 || hasRareSign(value) || isMixed(value);
}

function countOf(value: string, holds: (unit: number) => boolean): number {
  let count = 0;
  for (let at = 0; at < value.length; at++) if (holds(value.charCodeAt(at))) count++;
  return count;
}

/** Whether a value has three of the four kinds: small letters, capitals, digits, signs. */
const isVaried = (value: string): boolean =>
  [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length >= 3;

const hasRareSign = (value: string): boolean => /[!@#%^&*+=/~?]/.test(value);

/** Whether the case changes, or letters and digits alternate, more often than in a name. */
function isMixed(value: string): boolean {
  let changes = 0;
  for (let at = 1; at < value.length; at++)
    if ((classOf(value.charCodeAt(at)) & 7) !== (classOf(value.charCodeAt(at - 1)) & 7)) changes++;
  return changes * 2 >= value.length;
}
