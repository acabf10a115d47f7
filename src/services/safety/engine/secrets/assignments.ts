import {
  alphanumeric,
  base64Sign,
  classOf,
  dot,
  hyphen,
  runEnd,
  runStart,
  underscore,
} from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';
import { entropy } from './entropy.ts';
import { addSecretKey } from './tokens.ts';

const longestName = 64;
const shortestValue = 12;
const longestValue = 128;
const leastEntropy = 3.5;
const nameCharacters = alphanumeric | underscore | hyphen | dot;

const secretName =
  /passw(?:or)?d|passwort|pwd|passphrase|secret|token|api[_.-]?key|access[_.-]?key|auth[_.-]?key|private[_.-]?key|encryption[_.-]?key|signing[_.-]?key|credential|contraseña|motdepasse/;
/** Names that speak of a secret without holding one. */
const describingName =
  /(?:_|-|\.|^)(?:id|ids|name|type|url|uri|path|file|length|count|limit|policy|hint|field|expiry|expires|ttl|hash|env|class|usage|tokens|index)$/;
const azureName = /account[_.-]?key/;
const awsName = /aws.{0,24}secret|secret[_.-]?access[_.-]?key/;
const placeholder =
  /change[_-]?me|your[_-]|placeholder|example|redacted|insert|dummy|sample|todo|undefined|process\.env|getenv|xxxx|\*\*\*|\.\.\.|1234567890|abcdef|<|>|\$\{|\{\{|%\(|\$\(/i;
/** In a query, the next name ends a value; in a password, `&` is a sign like others. */
const nextParameter = /^&[A-Za-z_][A-Za-z0-9_.-]{0,31}=/;
const azureForm = /^[A-Za-z0-9+/]{86}==/;

/** Recognises a secret that is assigned to a name, at the `=` or `:` between them. */
export function recogniseAssignment(scan: Scan, sign: number): void {
  const { text } = scan;
  const name = nameBefore(text, sign);
  if (name === '') return;
  scan.work += name.length * 3;
  const isAzure = azureName.test(name);
  if ((!secretName.test(name) && !isAzure) || describingName.test(name)) return;
  const { start, quote } = valueStart(text, sign + 1);
  if (isAzure && azureForm.test(text.slice(start, start + 88))) {
    scan.add('secret.azure_storage_key', start, start + 88, text.slice(start, start + 88));
    return;
  }
  const end = valueEnd(text, start, quote);
  scan.work += end - start;
  if (awsName.test(name) && runEnd(text, start, alphanumeric | base64Sign, 41) === start + 40)
    addSecretKey(scan, start, start + 40);
  const length = end - start;
  if (length < shortestValue || length > longestValue) return;
  const value = text.slice(start, end);
  if (entropy(value) < leastEntropy || placeholder.test(value) || !isSecretValue(value, quote !== '')) return;
  scan.add('secret.generic_assignment', start, end, value.normalize('NFC'));
}

/** The name before the sign, in lower case; quotation marks, a type and spaces may stand between them. */
function nameBefore(text: string, sign: number): string {
  let end = sign;
  while (end > 0 && sign - end < 3 && text.charAt(end - 1) === ' ') end--;
  if (/["'`\]]/.test(text.charAt(end - 1))) end--;
  if (/["'`]/.test(text.charAt(end - 1))) end--;
  if (text.charAt(end - 1) === ':') end--;
  const start = runStart(text, end, nameCharacters, longestName);
  return text.slice(start, end).toLowerCase();
}

function valueStart(text: string, from: number): { start: number; quote: string } {
  let at = from;
  while (at < from + 2 && /[=>]/.test(text.charAt(at))) at++;
  for (const limit = at + 4; at < limit && text.charAt(at) === ' ';) at++;
  const quote = /["'`]/.exec(text.charAt(at))?.[0] ?? '';
  return { start: at + quote.length, quote };
}

/** A quoted value ends at its quotation mark, another one at white space or a mark that ends a statement. */
function valueEnd(text: string, from: number, quote: string): number {
  const last = Math.min(text.length, from + longestValue + 1);
  let at = from;
  for (; at < last; at++) {
    const one = text.charAt(at);
    if (quote === '' && one === '&' && nextParameter.test(text.slice(at, at + 34))) break;
    if (quote === '' ? /[\s"'`,;)\]}|]/.test(one) : one === quote || one === '\n') break;
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

const hasRareSign = (value: string): boolean => /[!@#%^&*+=/~?]/.test(value);

/** Whether the case changes, or letters and digits alternate, more often than in a name. */
function isMixed(value: string): boolean {
  let changes = 0;
  for (let at = 1; at < value.length; at++)
    if ((classOf(value.charCodeAt(at)) & 7) !== (classOf(value.charCodeAt(at - 1)) & 7)) changes++;
  return changes * 2 >= value.length;
}
