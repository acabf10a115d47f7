import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { classOf, digit } from './characters.ts';
import type { Scan } from './scan.ts';

const fewestDigits = 7;
const mostDigits = 17;
/** One number takes about 17 µs to parse. */
const workOfParsing = 2_000;
/** How many groups behind a number may turn out not to belong to it. */
const mostDropped = 3;
const nationalBase = 0.45;

/** Recognises a number with its country code, from its `+` or its `00`. */
export function recogniseInternationalPhone(scan: Scan, start: number): void {
  if (start < scan.pastPhone || !scan.begins(start)) return;
  const prefix = scan.text.charAt(start) === '+' ? 1 : 2;
  const ends = candidateEnds(scan, start + prefix);
  const parsed = parse(scan, ends, (end) => `+${scan.text.slice(start + prefix, end)}`);
  if (parsed === undefined) return;
  scan.pastPhone = parsed.end;
  scan.add('pii.phone', start, parsed.end, parsed.number);
}

/** Recognises a number of the region, from its first digit or the parenthesis before it. */
export function recogniseNationalPhone(scan: Scan, start: number): void {
  const { text, region } = scan;
  if (region === undefined || start < scan.pastPhone || !scan.begins(start)) return;
  if (/[+,.:]/.test(text.charAt(start - 1)) && /[0-9+]/.test(text.slice(start - 2, start))) return;
  const ends = candidateEnds(scan, start);
  const parsed = parse(scan, ends, (end) => text.slice(start, end), region as CountryCode);
  if (parsed === undefined) return;
  scan.pastPhone = parsed.end;
  scan.add('pii.phone', start, parsed.end, parsed.number, nationalBase);
}

interface Parsed {
  readonly end: number;
  readonly number: string;
}

/** The longest candidate that the numbering plan knows. */
function parse(
  scan: Scan,
  ends: readonly number[],
  written: (end: number) => string,
  region?: CountryCode,
): Parsed | undefined {
  for (const end of ends) {
    scan.work += workOfParsing;
    const phone = parsePhoneNumberFromString(written(end), {
      extract: false,
      ...(region && { defaultCountry: region }),
    });
    if (phone?.isValid()) return { end, number: phone.number };
  }
  return undefined;
}

/** Where the candidate may end, the furthest first: behind groups of digits that are joined by at most two separators. */
function candidateEnds(scan: Scan, from: number): number[] {
  const { text } = scan;
  const ends: number[] = [];
  let digits = 0;
  let separators = 0;
  let at = from;
  for (; separators <= 2; at++) {
    const unit = text.charCodeAt(at);
    if ((classOf(unit) & digit) !== 0) {
      separators = 0;
      if (++digits > mostDigits) break;
      const groupEnds = (classOf(text.charCodeAt(at + 1)) & digit) === 0;
      if (groupEnds && digits >= fewestDigits && scan.ends(at + 1)) ends.push(at + 1);
    } else if (isSeparator(unit)) separators++;
    else break;
  }
  scan.work += at - from;
  return ends.reverse().slice(0, mostDropped + 1);
}

/** Space, hyphen, dot, slash and parentheses. */
const isSeparator = (unit: number): boolean =>
  unit === 32 || (unit >= 45 && unit <= 47) || unit === 40 || unit === 41;
