import { isLuhn } from '../recognition/check-digits.ts';

/** The ranges of the issuers: first number of a range, last, and the lengths of its cards. */
const issuers: readonly (readonly [first: string, last: string, shortest: number, longest: number])[] = [
  ['2200', '2204', 16, 19], // Mir
  ['2221', '2720', 16, 16], // Mastercard
  ['300', '305', 14, 19], // Diners Club
  ['3095', '3095', 14, 19],
  ['34', '34', 15, 15], // American Express
  ['3528', '3589', 16, 19], // JCB
  ['36', '36', 14, 19],
  ['37', '37', 15, 15],
  ['38', '39', 14, 19],
  ['4', '4', 16, 16], // Visa
  ['4', '4', 13, 13],
  ['4', '4', 19, 19],
  ['5018', '5018', 12, 19], // Maestro
  ['5020', '5020', 12, 19],
  ['5038', '5038', 12, 19],
  ['5066', '5067', 16, 19], // Elo and Verve
  ['508', '508', 16, 16], // RuPay
  ['51', '55', 16, 16],
  ['5893', '5893', 12, 19],
  ['6011', '6011', 16, 19], // Discover
  ['60', '60', 16, 16],
  ['62', '62', 16, 19], // UnionPay
  ['6304', '6304', 12, 19],
  ['6362', '6363', 16, 16],
  ['644', '649', 16, 19],
  ['65', '65', 16, 19],
  ['6759', '6763', 12, 19],
  ['81', '82', 16, 19],
  ['9792', '9792', 16, 16], // Troy
];

export const isCreditCard = (digits: string): boolean =>
  issuers.some(
    ([first, last, shortest, longest]) =>
      digits.length >= shortest &&
      digits.length <= longest &&
      digits.slice(0, first.length) >= first &&
      digits.slice(0, last.length) <= last,
  ) && isLuhn(digits);
