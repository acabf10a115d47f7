/** A name and a password as HTTP sends them, in the header or as an option of curl. */
import { alphanumeric, base64Sign, classOf, letter, runEnd } from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';
import { isPlaceholderPassword } from './placeholders.ts';

const shortestEncoded = 8;
const longestEncoded = 512;
const longestPair = 256;
const shortestPassword = 4;
/** How far before its option the command may stand. */
const mostBefore = 512;

/** Recognises the credentials behind the word `Basic`, which ends here. */
export function recogniseBasic(scan: Scan, end: number): void {
  const { text } = scan;
  let start = end;
  while (start < end + 2 && text.charCodeAt(start) === 32) start++;
  let until = runEnd(text, start, alphanumeric | base64Sign, longestEncoded);
  scan.work += until - end;
  if (until - start < shortestEncoded) return;
  while (until < text.length && text.charCodeAt(until) === 61) until++;
  const encoded = text.slice(start, until);
  scan.work += encoded.length * 2;
  if (isPair(Buffer.from(encoded, 'base64').toString('utf8')))
    scan.add('secret.basic_credentials', start, until, encoded);
}

const option = /^-(?:u|U|-user|-proxy-user)[ =]{1,2}\\{0,7}["']?/;

/** Recognises the credentials of `curl --user name:password`, at the first hyphen of the option. */
export function recogniseUserOption(scan: Scan, at: number): void {
  const { text } = scan;
  const first = text.charCodeAt(at + 1) | 32;
  if ((first !== 0x75 && first !== 45) || text.charCodeAt(at - 1) > 32) return;
  const match = option.exec(text.slice(at, at + 16));
  scan.work += 32;
  if (match === null) return;
  if (!/\bcurl(?:\.exe)? /.test(commandBefore(scan, at))) return;
  const start = at + match[0].length;
  const end = pairEnd(text, start);
  scan.work += end - start;
  const pair = text.slice(start, end);
  if (isPair(pair)) scan.add('secret.basic_credentials', start, end, pair.normalize('NFC'));
}

/** The command up to its option: it goes on behind a line that ends with a backslash. */
function commandBefore(scan: Scan, at: number): string {
  const before = scan.text.slice(Math.max(0, at - mostBefore), at);
  scan.work += before.length;
  let start = before.lastIndexOf('\n');
  while (start > 0 && before.charAt(start - 1) === '\\') start = before.lastIndexOf('\n', start - 1);
  return before.slice(start + 1);
}

function pairEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + longestPair);
  let at = from;
  while (at < last && !/[\s"'`\\]/.test(text.charAt(at))) at++;
  return at;
}

/** Whether a text is a name, a colon and a password, which no variable and no word for it stands for. */
function isPair(text: string): boolean {
  const colon = text.indexOf(':');
  const password = text.slice(colon + 1);
  return (
    colon >= 0 &&
    password.length >= shortestPassword &&
    !/[\0-\x1f\x7f\ufffd]/.test(text) &&
    !/^[$%{<[]/.test(text) &&
    password !== text.slice(0, colon) &&
    !isPlaceholderPassword(password)
  );
}

/** Whether a word is the scheme of HTTP, in front of its credentials. */
export const isBasic = (text: string, start: number, end: number): boolean =>
  end - start === 5 &&
  text.charCodeAt(end) === 32 &&
  (classOf(text.charCodeAt(end + 1)) & (letter | alphanumeric)) !== 0 &&
  /^basic$/i.test(text.slice(start, end));
