/** National numbers of Asia, Africa and Australia, without separators and in upper case; the forms have been checked already. */
import { digitAt, isDate, isLuhn, isVerhoeff, weighted } from '../../recognition/check-digits.ts';

const number = (digits: string, from: number, to: number) => Number(digits.slice(from, to));

export const isInAadhaar = (digits: string): boolean => digits.charAt(0) > '1' && isVerhoeff(digits);

/** The fourth letter is the kind of the holder: a person, a company, a trust … */
export const isInPan = (id: string): boolean => /^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$/.test(id);

export const isAuTfn = (digits: string): boolean =>
  number(digits, 0, 9) > 0 &&
  weighted(digits, digits.length === 9 ? [1, 4, 3, 7, 5, 8, 6, 9, 10] : [10, 7, 8, 4, 6, 3, 5, 1]) % 11 === 0;

export const isAuAbn = (digits: string): boolean =>
  digits.charAt(0) > '0' && (weighted(digits, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10) % 89 === 0;

const provinces = /^(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[123]|91)/;

export function isCnResidentId(id: string): boolean {
  const year = number(id, 6, 10);
  if (!provinces.test(id) || year < 1800 || year > 2099) return false;
  if (!isDate(year, number(id, 10, 12), number(id, 12, 14))) return false;
  const rest = weighted(id, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11;
  return '10X98765432'.charAt(rest) === id.charAt(17);
}

/** Each series shifts the sum and has its own letters. */
const nricSeries: Record<string, readonly [shift: number, letters: string]> = {
  S: [0, 'JZIHGFEDCBA'],
  T: [4, 'JZIHGFEDCBA'],
  F: [0, 'XWUTRQPNMLK'],
  G: [4, 'XWUTRQPNMLK'],
  M: [3, 'XWUTRQPNJLK'],
};

export function isSgNric(id: string): boolean {
  const series = nricSeries[id.charAt(0)];
  if (series === undefined) return false;
  const sum = weighted(id.slice(1, 8), [2, 7, 6, 5, 4, 3, 2]) + series[0];
  return series[1].charAt(sum % 11) === id.charAt(8);
}

/** The seventh digit tells the century and the sex. */
export function isKrRrn(digits: string): boolean {
  const century = [1800, 1900, 1900, 2000, 2000, 1900, 1900, 2000, 2000, 1800][digitAt(digits, 6)]!;
  const rest = weighted(digits, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11;
  return (
    isDate(century + number(digits, 0, 2), number(digits, 2, 4), number(digits, 4, 6)) &&
    (11 - rest) % 10 === digitAt(digits, 12)
  );
}

export const isZaId = (digits: string): boolean =>
  isDate(undefined, number(digits, 2, 4), number(digits, 4, 6)) && digitAt(digits, 10) < 3 && isLuhn(digits);

export function isTrTckn(digits: string): boolean {
  if (digits.startsWith('0')) return false;
  const odd = weighted(digits, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
  const even = weighted(digits, [0, 1, 0, 1, 0, 1, 0, 1]);
  const tenth = (((odd * 7 - even) % 10) + 10) % 10;
  return tenth === digitAt(digits, 9) && (odd + even + tenth) % 10 === digitAt(digits, 10);
}
