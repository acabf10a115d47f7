/** National numbers of Europe, without separators and in upper case; the forms have been checked already. */
import {
  digitAt,
  isDate,
  isLuhn,
  isMod11And10,
  remainder,
  weighted,
} from '../../recognition/check-digits.ts';

const number = (digits: string, from: number, to: number) => Number(digits.slice(from, to));

export function isGbNhs(digits: string): boolean {
  const check = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check === 11 ? 0 : check) === digitAt(digits, 9);
}

const ninoForm = /^[ABCEGHJ-PRSTW-Z][ABCEGHJ-NPRSTW-Z][0-9]{6}[A-D]$/;
const ninoPrefixesNotInUse = new Set(['BG', 'GB', 'KN', 'NK', 'NT', 'TN', 'ZZ']);

export const isGbNino = (id: string): boolean =>
  ninoForm.test(id) && !ninoPrefixesNotInUse.has(id.slice(0, 2));

/** Among the first ten digits exactly one occurs more than once, two or three times. */
export function isDeTaxId(digits: string): boolean {
  if (digits.startsWith('0')) return false;
  const counts = new Uint8Array(10);
  for (let at = 0; at < 10; at++) counts[digitAt(digits, at)]!++;
  const repeated = counts.filter((count) => count > 1);
  return repeated.length === 1 && repeated[0]! <= 3 && isMod11And10(digits);
}

const nifLetters = 'TRWAGMYFPDXBNJZSQVHLCKE';

/** A DNI of eight digits, or a NIE whose first letter stands for a digit, and the letter of the remainder. */
export function isEsNif(id: string): boolean {
  const first = 'XYZ'.indexOf(id.charAt(0));
  const digits = first < 0 ? id.slice(0, 8) : first + id.slice(1, 8);
  return nifLetters[Number(digits) % 23] === id.charAt(8);
}

/** Sex, year, month, department or country, commune, order; Corsica has letters. The months above 12 mark unknown ones. */
const nirForm = /^[12378][0-9]{2}(?:0[1-9]|1[0-2]|[2-9][0-9])(?:[0-9]{2}|2[AB])[0-9]{8}$/;

export function isFrNir(id: string): boolean {
  if (!nirForm.test(id)) return false;
  const digits = id.replace('2A', '19').replace('2B', '18');
  return 97 - remainder(digits.slice(0, 13), 97) === number(digits, 13, 15);
}

const fiscalCodeForm =
  /^[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]$/;
/** The values of the characters at odd places, counted from one; those of digits are those of the first ten letters. */
const oddValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

export function isItFiscalCode(id: string): boolean {
  if (!fiscalCodeForm.test(id)) return false;
  let sum = 0;
  for (let at = 0; at < 15; at++) {
    const unit = id.charCodeAt(at);
    const value = unit < 65 ? unit - 48 : unit - 65;
    sum += at % 2 === 0 ? oddValues[value]! : value;
  }
  return id.charCodeAt(15) - 65 === sum % 26;
}

export const isNlBsn = (digits: string): boolean =>
  number(digits, 0, 9) > 9_999_999 && weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;

/** The month also tells the century, in steps of twenty. */
export const isPlPesel = (digits: string): boolean =>
  weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0 &&
  isDate(peselYear(digits), number(digits, 2, 4) % 20, number(digits, 4, 6));

const peselYear = (digits: string): number =>
  [1900, 2000, 2100, 2200, 1800][Math.floor(number(digits, 2, 4) / 20)]! + number(digits, 0, 2);

const hetuForm = /^[0-9]{6}[-+ABCDEFUVWXY][0-9]{3}[0-9A-FHJKLMNPR-Y]$/;
const hetuLetters = '0123456789ABCDEFHJKLMNPRSTUVWXY';

export function isFiHetu(id: string): boolean {
  if (!hetuForm.test(id) || number(id, 7, 10) < 2) return false;
  const sign = id.charAt(6);
  const century = sign === '+' ? 1800 : '-YXWVU'.includes(sign) ? 1900 : 2000;
  return (
    isDate(century + number(id, 4, 6), number(id, 2, 4), number(id, 0, 2)) &&
    hetuLetters[Number(id.slice(0, 6) + id.slice(7, 10)) % 31] === id.charAt(10)
  );
}

/** Ten digits, or twelve with the century. Coordination numbers add 60 to the day. */
export function isSePersonnummer(digits: string): boolean {
  const short = digits.slice(-10);
  const year = digits.length === 12 ? number(digits, 0, 4) : undefined;
  if (year !== undefined && (year < 1850 || year > 2099)) return false;
  const day = number(short, 4, 6);
  return isDate(year, number(short, 2, 4), day > 60 ? day - 60 : day) && isLuhn(short);
}

export function isPtNif(digits: string): boolean {
  if (!/^(?:[1235689]|45|7[0-9])/.test(digits)) return false;
  const check = 11 - (weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check > 9 ? 0 : check) === digitAt(digits, 8);
}

/** Those born since 2000 have a 2 before their number when it is divided. Months above 12 are of people without a number. */
export function isBeNrn(digits: string): boolean {
  const month = number(digits, 2, 4) % 20;
  if (month > 12 || number(digits, 2, 4) > 52 || number(digits, 4, 6) > 31) return false;
  const check = number(digits, 9, 11);
  return (
    97 - (number(digits, 0, 9) % 97) === check || 97 - ((2_000_000_000 + number(digits, 0, 9)) % 97) === check
  );
}
