import { classOf, digit, upper } from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';

/** The values that ICAO 9303 gives the characters, and its weights. */
const valueOf = (unit: number): number => (unit === 60 ? 0 : unit < 58 ? unit - 48 : unit - 55);
const weights = [7, 3, 1];

const isChecked = (field: string, check: string): boolean => {
  let sum = 0;
  for (let at = 0; at < field.length; at++) sum += valueOf(field.charCodeAt(at)) * weights[at % 3]!;
  return sum % 10 === valueOf(check.charCodeAt(0));
};

/** The formats: lines, characters a line, and whether the check digits of the joined lines are right. */
const formats: readonly (readonly [lines: number, length: number, isValid: (zone: string) => boolean])[] = [
  [2, 44, (zone) => isPassport(zone.slice(44), 43)],
  [2, 36, (zone) => isPassport(zone.slice(36), 35)],
  [3, 30, isCard],
];

/** The second line of a passport or, shorter, of another document of two lines. */
function isPassport(line: string, last: number): boolean {
  return (
    isChecked(line.slice(0, 9), line.charAt(9)) &&
    isChecked(line.slice(13, 19), line.charAt(19)) &&
    isChecked(line.slice(21, 27), line.charAt(27)) &&
    isChecked(line.slice(0, 10) + line.slice(13, 20) + line.slice(21, last), line.charAt(last))
  );
}

function isCard(zone: string): boolean {
  const second = zone.slice(30, 60);
  return (
    isChecked(zone.slice(5, 14), zone.charAt(14)) &&
    isChecked(second.slice(0, 6), second.charAt(6)) &&
    isChecked(second.slice(8, 14), second.charAt(14)) &&
    isChecked(
      zone.slice(5, 30) + second.slice(0, 7) + second.slice(8, 15) + second.slice(18, 29),
      second.charAt(29),
    )
  );
}

const isZoneUnit = (unit: number): boolean => unit === 60 || (classOf(unit) & (upper | digit)) !== 0;

/** Recognises the machine-readable zone whose first line begins here with the kind of the document. */
export function recogniseMrz(scan: Scan, start: number): void {
  const { text } = scan;
  if (!/^[PVIAC][A-Z<][A-Z]{1,3}/.test(text.slice(start, start + 5)) || !scan.begins(start)) return;
  const lines = [start];
  let at = start;
  let end = start;
  const length = lineEnd(text, start) - start;
  while (lines.length <= 3) {
    end = lineEnd(text, at);
    if (end - at !== length) break;
    const format = formats.find(([count, each]) => each === length && count === lines.length);
    if (format !== undefined) {
      const zone = lines.map((from) => text.slice(from, from + length)).join('');
      if (format[2](zone)) scan.add('pii.passport_mrz', start, end, zone);
      break;
    }
    at = /^ {0,4}\r?\n {0,16}/.exec(text.slice(end, end + 24))?.[0].length ?? 0;
    if (at === 0) break;
    at += end;
    lines.push(at);
  }
  scan.work += end - start + 50;
}

function lineEnd(text: string, from: number): number {
  let at = from;
  while (at - from <= 44 && isZoneUnit(text.charCodeAt(at))) at++;
  return at;
}
