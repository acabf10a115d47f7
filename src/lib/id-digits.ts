import { randomFillSync } from 'node:crypto';

/** The digits of TypeIDs: base32 in the order of their values, so that ids sort as their UUIDs do. */
export const digits = '0123456789abcdefghjkmnpqrstvwxyz';

/** The 48 bits of time at the start of a UUIDv7 are the first ten digits. */
export const timeLength = 10;

/** The two digits of each number of ten bits. */
const pairs = Array.from({ length: 1_024 }, (_, n) => digits[n >> 5]! + digits[n & 31]!);

export function timeDigits(ms: number): string {
  let text = '';
  let time = Math.floor(ms);
  for (; text.length < timeLength; time = Math.floor(time / 1_024)) text = pairs[time % 1_024]! + text;
  return text;
}

/**
 * The digits of a UUIDv7 after those of the time: the version (4 bits), 12 bits of the counter, the variant (2 bits), 19 bits of the
 * counter, and 43 bits of chance.
 * @param counter 31 bits
 * @param three the first three bits of chance; the other 40 are the four numbers of ten bits
 */
export function otherDigits(
  counter: number,
  three: number,
  a: number,
  b: number,
  c: number,
  d: number,
): string {
  const high = (7 << 16) | ((counter >>> 19) << 4) | (2 << 2) | ((counter >>> 17) & 3);
  const low = ((counter & 0x1_ffff) << 3) | three;
  return (
    pairs[high >>> 10]! +
    pairs[high & 1_023]! +
    pairs[low >>> 10]! +
    pairs[low & 1_023]! +
    pairs[a]! +
    pairs[b]! +
    pairs[c]! +
    pairs[d]!
  );
}

/** So much chance is drawn at once, because each call costs as much as an id. */
const drawn = 5 * 512;
/** As long as the clock is not further behind than this, ids go on from the time of the last one. */
const mostBehindMs = 10_000;
const mostCounted = 0x7fff_ffff;

/**
 * Makes the digits of UUIDv7s, each higher than the one before it (RFC 9562, 6.2, method 1): a counter begins at random and grows with
 * each, and the time does not go back when the clock is set back by less than ten seconds.
 */
export function createDigits(now: () => number = () => Date.now()): () => string {
  const chance = new Uint16Array(drawn);
  let next = drawn;
  let time = -1;
  let timeText = '';
  let counter = -1;

  const draw = () => {
    if (next === drawn) {
      randomFillSync(chance);
      next = 0;
    }
    return chance[next++]! & 1_023;
  };

  function advance(): void {
    // The first bit is 0, so that the counter has room to grow.
    counter = counter < 0 ? ((draw() << 20) | (draw() << 10) | draw()) >>> 0 : counter + 1;
    const clock = now();
    const isReset = clock > time || clock + mostBehindMs <= time;
    const isOver = counter > mostCounted;
    if (isOver) counter = 0;
    if (!isReset && !isOver) return;
    time = isReset ? clock : time + 1;
    timeText = timeDigits(time);
  }

  return () => {
    advance();
    return timeText + otherDigits(counter, draw() & 7, draw(), draw(), draw(), draw());
  };
}
