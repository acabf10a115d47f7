/**
 * Returns the CRC32C of two contents one after the other, given the CRC32C of each, as 8 digits, and the length of the second in bytes.
 * No byte is read again: appending `lengthB` bytes to A multiplies its remainder by x^(8·lengthB), and the remainder of B is added.
 */
export function crc32cCombine(a: string, b: string, lengthB: number): string {
  return crcCombiner()(a, b, lengthB);
}

/**
 * Returns a function that combines CRCs and remembers the power of x for the last length. Parts mostly have the same size, so that each
 * costs one multiplication.
 */
export function crcCombiner(): (a: string, b: string, lengthB: number) => string {
  let length = 0;
  let power = one;
  return (a, b, lengthB) => {
    if (lengthB !== length) [length, power] = [lengthB, powerOfX(lengthB)];
    return crcHex(product(power, parseInt(a, 16)) ^ parseInt(b, 16));
  };
}

/**
 * The polynomial of CRC32C, without its highest term, with the coefficient of x^0 in the highest bit. All polynomials here are signed
 * integers of 32 bits, with which the engine computes ten times as fast as with larger numbers.
 */
const polynomial = 0x82f63b78 | 0;
const one = 0x80000000 | 0;

/** Multiplies two polynomials over GF(2), modulo that of CRC32C. */
function product(a: number, b: number): number {
  let sum = 0;
  let left = a | 0;
  let right = b | 0;
  for (let step = 0; step < 32; step++) {
    sum ^= right & (left >> 31);
    left <<= 1;
    right = (right >>> 1) ^ (polynomial & -(right & 1));
  }
  return sum;
}

/** x^(8·2^n) for every n that a length may have as a binary digit. */
const powers: readonly number[] = (() => {
  const found = [0x00800000];
  while (found.length < 53) found.push(product(found.at(-1)!, found.at(-1)!));
  return found;
})();

/** x^(8·bytes), modulo the polynomial. */
function powerOfX(bytes: number): number {
  let result = one;
  for (let rest = bytes, digit = 0; rest > 0; rest = Math.floor(rest / 2), digit++)
    if (rest % 2 === 1) result = product(powers[digit]!, result);
  return result;
}

/** Writes a CRC as its 8 digits. */
export const crcHex = (crc: number) => (crc >>> 0).toString(16).padStart(8, '0');
