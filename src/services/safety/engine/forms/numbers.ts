import { classOf, digit, letter, runEnd } from '../recognition/characters.ts';
import { extendedKey, formsOf, separatorCode } from './number-forms.ts';
import type { Scan } from '../recognition/scan.ts';

const mostGroups = 8;
const mostDigits = 19;
/** A date keeps its separators, since its digits alone could be another date. */
const dateOfBirth = 'pii.date_of_birth';

/**
 * Recognises the numbers that begin with this group of digits. From each group on at most eight are joined, so a long row of
 * groups stays linear.
 */
export function recogniseNumbers(scan: Scan, start: number, firstEnd: number): void {
  if (firstEnd - start > mostDigits || !scan.begins(start)) return;
  const { text } = scan;
  let end = firstEnd;
  let key = extendedKey(0, 0, firstEnd - start);
  let digits: string | undefined;
  const isPart = isPrefixed(text, start);
  for (let groups = 1, total = firstEnd - start; ; groups++) {
    const forms = formsOf(key);
    if (forms !== undefined && scan.ends(end)) {
      digits = groups === 1 ? text.slice(start, end) : withoutSeparators(text, start, end);
      scan.work += forms.length * 20;
      for (const { type, isValid, base, alone } of forms)
        if (scan.wants(type) && !(alone && hasNeighbour(text, start, end)) && isValid(digits))
          scan.add(type, start, end, type === dateOfBirth ? text.slice(start, end) : digits, base, isPart);
    }
    const separator = separatorCode(text.charCodeAt(end));
    if (separator < 0 || groups === mostGroups) return;
    const next = runEnd(text, end + 1, digit, mostDigits + 1);
    total += next - end - 1;
    if (next === end + 1 || total > mostDigits) return;
    key = extendedKey(key, separator, next - end - 1);
    end = next;
    scan.work += 10;
  }
}

function withoutSeparators(text: string, start: number, end: number): string {
  let digits = '';
  for (let at = start; at < end; at++)
    if ((classOf(text.charCodeAt(at)) & digit) !== 0) digits += text.charAt(at);
  return digits;
}

/** Whether letters are joined to a number: those of `INV-123-45-6789` say what it counts. */
const isPrefixed = (text: string, start: number): boolean =>
  text.charAt(start - 1) === '-' && (classOf(text.charCodeAt(start - 2)) & letter) !== 0;

const isDigit = (unit: number): boolean => (classOf(unit) & digit) !== 0;

/** Whether another group of digits stands beside, one space away. */
const hasNeighbour = (text: string, start: number, end: number): boolean =>
  (text.charAt(start - 1) === ' ' && isDigit(text.charCodeAt(start - 2))) ||
  (text.charAt(end) === ' ' && isDigit(text.charCodeAt(end + 1)));
