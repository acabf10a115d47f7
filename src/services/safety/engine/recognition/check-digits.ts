/** Check digits that several kinds of numbers share. The texts consist of ASCII digits unless said otherwise. */

/** The digit at a place, as a number. */
export const digitAt = (digits: string, at: number): number => digits.charCodeAt(at) - 48;

/** The sum of the digits by their weights. */
export function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < weights.length; at++) sum += digitAt(digits, at) * weights[at]!;
  return sum;
}

/** Luhn: every second digit from the right is doubled, and the sum of all digits is a multiple of ten. */
export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, double = false; at >= 0; at--, double = !double) {
    const value = digitAt(digits, at);
    sum += double ? (value < 5 ? value * 2 : value * 2 - 9) : value;
  }
  return sum % 10 === 0;
}

/** The remainder of a decimal number of any length. */
export function remainder(digits: string, divisor: number): number {
  let rest = 0;
  for (let at = 0; at < digits.length; at++) rest = (rest * 10 + digitAt(digits, at)) % divisor;
  return rest;
}

/** ISO 7064 mod 97,10 as IBANs use it: the first four characters at the end, letters as two digits. */
export function isIbanSum(iban: string): boolean {
  let rest = 0;
  for (let at = 0; at < iban.length; at++) {
    const unit = iban.charCodeAt((at + 4) % iban.length);
    rest = unit < 58 ? (rest * 10 + unit - 48) % 97 : (rest * 100 + unit - 55) % 97;
  }
  return rest === 1;
}

/** ISO 7064 mod 11,10. */
export function isMod11And10(digits: string): boolean {
  let product = 10;
  for (let at = 0; at < digits.length - 1; at++) {
    const sum = (digitAt(digits, at) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digitAt(digits, digits.length - 1);
}

const verhoeffProducts = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
].map((row) => [...row].map(Number));
const verhoeffOrders = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
].map((row) => [...row].map(Number));

/** Verhoeff's scheme in the dihedral group of order ten. */
export function isVerhoeff(digits: string): boolean {
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    const value = verhoeffOrders[at % 8]![digitAt(digits, digits.length - 1 - at)]!;
    check = verhoeffProducts[check]![value]!;
  }
  return check === 0;
}

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a month has the day; of February only a known year says whether it has 29. */
export function isDate(year: number | undefined, month: number, day: number): boolean {
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonths[month - 1]!)) return false;
  const leap = year === undefined || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
  return month !== 2 || day < 29 || leap;
}
