/** National numbers of the Americas, without separators and in upper case; the forms have been checked already. */
import { digitAt, weighted } from '../../recognition/check-digits.ts';

/** Numbers that were printed on sample cards and never issued again. */
const neverIssued = new Set(['078051120', '219099999']);

export const isUsSsn = (digits: string): boolean =>
  !/^(?:000|666|9)/.test(digits) &&
  digits.slice(3, 5) !== '00' &&
  digits.slice(5) !== '0000' &&
  !neverIssued.has(digits);

/** The fourth and fifth digit tell an ITIN from other numbers that begin with 9. */
export const isUsItin = (digits: string): boolean =>
  /^9[0-9]{2}(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]|9[0-24-9])/.test(digits);

/** The first two digits name a Federal Reserve district, a thrift, an electronic or a government number. */
export const isUsRouting = (digits: string): boolean =>
  /^(?:0[0-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(digits) &&
  digits !== '000000000' &&
  weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;

export const isBrCpf = (digits: string): boolean =>
  !isOneDigit(digits) && hasBrCheck(digits, 9, 11) && hasBrCheck(digits, 10, 12);

/** Since 2026 the first twelve may be letters, which count by their place in ASCII. */
export function isBrCnpj(id: string): boolean {
  return !isOneDigit(id) && hasBrCheck(id, 12, 9) && hasBrCheck(id, 13, 9);
}

/** The weights rise from 2 at the last character before the check digit; those of a CNPJ begin again after 9. */
function hasBrCheck(id: string, length: number, highest: number): boolean {
  let sum = 0;
  for (let at = length - 1, weight = 2; at >= 0; at--) {
    sum += digitAt(id, at) * weight;
    weight = weight === highest ? 2 : weight + 1;
  }
  const rest = sum % 11;
  return (rest < 2 ? 0 : 11 - rest) === digitAt(id, length);
}

const isOneDigit = (digits: string): boolean => /^(.)\1*$/.test(digits);
