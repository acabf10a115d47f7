import { alphanumeric, classOf } from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';

const longestLocal = 64;
const longestDomain = 253;

/** Characters of a local part besides letters and digits; those that stand for something else in code and markup are left out. */
const localSigns = new Set([..."!#$%&'*+-.^_~"].map((sign) => sign.charCodeAt(0)));

/** Letters of alphabets that addresses may be written in; scripts without spaces would draw the sentence into the address. */
const isForeignLetter = (unit: number): boolean =>
  unit >= 0xc0 && unit <= 0x52f && unit !== 0xd7 && unit !== 0xf7 && !(unit >= 0x300 && unit <= 0x36f);
const isAddressLetter = (unit: number): boolean =>
  (classOf(unit) & alphanumeric) !== 0 || isForeignLetter(unit);

const lastLabel = /^(?:[a-z\u00c0-\u052f]{2,63}|xn--[a-z0-9-]{1,59})$/i;

/** `image@2x.png` is a file, and none of these is a domain. */
const fileNames = new Set([
  'png',
  'jpg',
  'jpeg',
  'gif',
  'webp',
  'svg',
  'service',
  'js',
  'json',
  'css',
  'html',
]);

/** Recognises the address around an `@`. */
export function recogniseEmail(scan: Scan, sign: number): void {
  const { text } = scan;
  const start = localStart(text, sign);
  if (start === sign) return;
  const end = domainEnd(text, sign + 1);
  scan.work += sign - start + (end - sign);
  if (end === sign + 1) return;
  // `git@host:path` names a repository.
  if (text.slice(start, sign) === 'git' && /[:/]/.test(text.charAt(end))) return;
  scan.add('pii.email', start, end, text.slice(start, end).normalize('NFC').toLowerCase());
}

function localStart(text: string, sign: number): number {
  const first = Math.max(0, sign - longestLocal - 1);
  let at = sign;
  while (at > first && isLocal(text.charCodeAt(at - 1))) at--;
  if (sign - at > longestLocal || text.charAt(sign - 1) === '.') return sign;
  const doubled = text.slice(at, sign).lastIndexOf('..');
  if (doubled >= 0) at += doubled + 2;
  // Markup and quotation marks in front of the address are no part of it.
  while (at < sign && !isAddressLetter(text.charCodeAt(at)) && text.charAt(at) !== '_') at++;
  return at;
}

const isLocal = (unit: number): boolean => isAddressLetter(unit) || localSigns.has(unit);

/** Where the domain ends; `from` when there is none. What follows the last label that can be one is no part of it. */
function domainEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + longestDomain + 1);
  let at = from;
  while (at < last && isDomain(text.charCodeAt(at))) at++;
  if (at - from > longestDomain) return from;
  const labels = text.slice(from, at).split('.');
  const broken = labels.findIndex(
    (label) => label === '' || label.length > 63 || label.startsWith('-') || label.endsWith('-'),
  );
  const usable =
    broken < 0
      ? labels
      : labels
          .slice(0, broken + 1)
          .map(withoutHyphens)
          .filter(Boolean);
  while (usable.length > 1 && !lastLabel.test(usable.at(-1)!)) usable.pop();
  if (fileNames.has(usable.at(-1)?.toLowerCase() ?? '')) return from;
  return usable.length < 2 ? from : from + usable.join('.').length;
}

/** A hyphen behind the last label is punctuation; one before a label is a mistake that ends the domain. */
const withoutHyphens = (label: string): string =>
  label.startsWith('-') || label.length > 63 ? '' : label.replace(/-{1,253}$/, '');

const isDomain = (unit: number): boolean => isAddressLetter(unit) || unit === 45 || unit === 46;
