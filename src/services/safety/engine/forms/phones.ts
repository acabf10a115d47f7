import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { classOf, digit } from '../recognition/characters.ts';
import { isCountry, isInternationalLength, isNationalLength } from './phone-plans.ts';
import type { Scan } from '../recognition/scan.ts';

const fewestDigits = 7;
const mostDigits = 17;
/** One number takes about 17 µs to parse. */
const workOfParsing = 2_000;
/** How many groups behind a number may turn out not to belong to it. */
const mostDropped = 3;
/** How many of the groups of a row of digits are tried as the beginning of a number. */
const mostBeginnings = 2;
const weakBase = 0.45;

/** A piece of text that may be a number, with the digits in it. */
interface Candidate {
  readonly end: number;
  readonly digits: string;
}

/** Recognises a number with its country code, from its `+` or its `00`. */
export function recogniseInternationalPhone(scan: Scan, start: number): void {
  const { text } = scan;
  if (start < scan.pastPhone || !scan.begins(start)) return;
  const prefix = text.charAt(start) === '+' ? 1 : 2;
  for (const { end, digits } of candidates(scan, start + prefix))
    if (isInternationalLength(digits)) {
      const number = parsed(scan, `+${text.slice(start + prefix, end)}`);
      if (number === undefined) continue;
      scan.pastPhone = end;
      // Any number may begin with two zeros.
      scan.add('pii.phone', opened(text, start, end), end, number, prefix === 1 ? undefined : weakBase);
      return;
    }
}

/**
 * Where a number begins, with the parenthesis that only belongs to its country code: `(+49) 30 901820`.
 */
function opened(text: string, start: number, end: number): number {
  if (text.charAt(start - 1) !== '(') return start;
  const number = text.slice(start, end);
  return number.indexOf(')') >= 0 && !/^[^)]*\(/.test(number) ? start - 1 : start;
}

/**
 * Recognises a number as it is dialled inside its country, from its first digit or the parenthesis before it: of the region of the
 * text, or of one of the app's regions where a word says that it is one.
 */
export function recogniseNationalPhone(scan: Scan, start: number): void {
  const { text, row } = scan;
  if (!scan.hasRegions || start < scan.pastPhone || !scan.begins(start)) return;
  if (start < row.end && row.beginnings === mostBeginnings) return;
  if (/[+,.:]/.test(text.charAt(start - 1)) && /[0-9+]/.test(text.slice(start - 2, start))) return;
  const ends = candidates(scan, start);
  if (ends.length === 0) return;
  if (start >= row.end) Object.assign(row, { end: ends[0]!.end, beginnings: 0 });
  row.beginnings++;
  if (scan.region !== undefined && isCountry(scan.region) && addNational(scan, start, ends, scan.region))
    return;
  if (scan.phoneRegions.length === 0 || !scan.isNamed('pii.phone', start, ends[0]!.end)) return;
  for (const region of scan.phoneRegions)
    if (region !== scan.region && isCountry(region) && addNational(scan, start, ends, region)) return;
}

/** Adds the longest candidate that is a number of the region, if any is. */
function addNational(scan: Scan, start: number, ends: readonly Candidate[], region: CountryCode): boolean {
  for (const { end, digits } of ends)
    if (isNationalLength(digits, region)) {
      const number = parsed(scan, scan.text.slice(start, end), region);
      if (number === undefined) continue;
      scan.pastPhone = end;
      scan.add('pii.phone', start, end, number, weakBase);
      return true;
    }
  return false;
}

/** The number in E.164, if the numbering plan knows it. */
function parsed(scan: Scan, written: string, defaultCountry?: CountryCode): string | undefined {
  scan.work += workOfParsing;
  const phone = parsePhoneNumberFromString(written, {
    extract: false,
    ...(defaultCountry && { defaultCountry }),
  });
  return phone?.isValid() ? phone.number : undefined;
}

/** The candidates that begin here, the longest first: groups of digits that are joined by at most two separators. */
function candidates(scan: Scan, from: number): Candidate[] {
  const { text } = scan;
  const found: Candidate[] = [];
  let digits = '';
  let separators = 0;
  let at = from;
  for (; separators <= 2; at++) {
    const unit = text.charCodeAt(at);
    if ((classOf(unit) & digit) !== 0) {
      separators = 0;
      if (digits.length === mostDigits) break;
      digits += text.charAt(at);
      const isGroup = (classOf(text.charCodeAt(at + 1)) & digit) === 0;
      if (isGroup && digits.length >= fewestDigits && scan.ends(at + 1) && !isHour(text, at + 1))
        found.push({ end: at + 1, digits });
    } else if (isSeparator(unit)) separators++;
    else break;
  }
  scan.work += at - from;
  return found.reverse().slice(0, mostDropped + 1);
}

/** Whether the group before is the hour of a time. */
const isHour = (text: string, at: number): boolean =>
  text.charAt(at) === ':' && (classOf(text.charCodeAt(at + 1)) & digit) !== 0;

/** Space, hyphen, dot, slash and parentheses. */
const isSeparator = (unit: number): boolean =>
  unit === 32 || (unit >= 45 && unit <= 47) || unit === 40 || unit === 41;
