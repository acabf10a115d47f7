import { isDate } from '../recognition/check-digits.ts';
import type { Scan } from '../recognition/scan.ts';

/** The months by their names in six languages; the abbreviations are English. */
const months = new Map<string, number>();
for (const names of [
  'january february march april may june july august september october november december',
  'jan feb mar apr may jun jul aug sep oct nov dec',
  'januar februar märz april mai juni juli august september oktober november dezember',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
  'januari februari maart april mei juni juli augustus september oktober november december',
])
  for (const [at, name] of names.split(' ').entries()) months.set(name, at + 1);

const longestBefore = 32;
const dayFirst =
  /(?<![\p{L}\p{N}])([0-9]{1,2})(?:st|nd|rd|th|er|\.|º)? {1,2}(?:of |de )?(\p{L}{3,12})\.?,?(?: de)? {1,2}$/iu;
const monthFirst = /(?<![\p{L}\p{N}])(\p{L}{3,12})\.? {1,2}([0-9]{1,2})(?:st|nd|rd|th)?,? {1,2}$/iu;

/** Recognises a date with the name of its month, from its year on. */
export function recogniseWrittenDate(scan: Scan, yearStart: number, yearEnd: number): void {
  const { text } = scan;
  if (text.charAt(yearStart - 1) !== ' ' || !/^(?:19|20)/.test(text.slice(yearStart, yearEnd))) return;
  if (!scan.ends(yearEnd)) return;
  const before = text.slice(Math.max(0, yearStart - longestBefore), yearStart);
  scan.work += 200;
  const dayBefore = dayFirst.exec(before);
  const match = dayBefore ?? monthFirst.exec(before);
  if (match === null) return;
  const [, first = '', second = ''] = match;
  const [day, name] = dayBefore === null ? [second, first] : [first, second];
  const month = months.get(name.toLowerCase());
  if (month === undefined || !isDate(Number(text.slice(yearStart, yearEnd)), month, Number(day))) return;
  const start = yearStart - before.length + match.index;
  scan.add('pii.date_of_birth', start, yearEnd, text.slice(start, yearEnd).normalize('NFC'));
}
