import { Invalid } from '../lib/errors.ts';

/** The deepest nesting of arrays and objects in a body. Contracts stay far below it; code that recurses over a body relies on it. */
const deepest = 64;

/** What a scan of the bytes of a JSON text finds before the text is parsed. */
export interface Scan {
  /** The number of members as written: a repeated member counts each time. */
  readonly members: number;
  /** Whether the text contains a number that a double may not represent. */
  readonly riskyNumbers: boolean;
}

/**
 * Counts the members of a JSON text without parsing it: building 80,000 members costs far more than counting them. It does not
 * check that the text is valid JSON; the parser does. Throws `Invalid` for more than `most` members and items together, and for
 * too many levels.
 */
export function scanJson(bytes: Uint8Array, most: number): Scan {
  let values = 0;
  let members = 0;
  let level = 0;
  let riskyNumbers = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) at = endOfText(bytes, at);
    else if (byte === colon) members++;
    else if (byte === comma || byte === openObject || byte === openArray) {
      if (++values > most) throw Invalid(`body: must have at most ${most} members and items`);
      if (byte !== comma && ++level > deepest) throw Invalid(`body: nested deeper than ${deepest} levels`);
    } else if (byte === closeObject || byte === closeArray) level--;
    else if (byte === minus || (byte >= zero && byte <= nine)) {
      const end = endOfNumber(bytes, at);
      riskyNumbers ||= end - at > surelyKept || hasExponent(bytes, at, end);
      at = end - 1;
    }
  }
  return { members, riskyNumbers };
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
const [zero, nine, minus, plus, point] = [0x30, 0x39, 0x2d, 0x2b, 0x2e];

/** The length in characters up to which a number without an exponent survives parsing without loss. */
const surelyKept = 15;

/** The index of the closing quote, or the end of the bytes. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && isOfNumber(bytes[at]!)) at++;
  return at;
}

const isExponent = (byte: number) => byte === 0x65 || byte === 0x45;
const isOfNumber = (byte: number) =>
  (byte >= zero && byte <= nine) || byte === point || isExponent(byte) || byte === plus || byte === minus;

function hasExponent(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (isExponent(bytes[at]!)) return true;
  return false;
}
