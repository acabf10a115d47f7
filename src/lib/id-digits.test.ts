import fc from 'fast-check';
import { fromUUID, toUUID } from 'typeid-js';
import { describe, expect, it } from 'vitest';
import { createDigits, otherDigits, timeDigits } from './id-digits.ts';

/** The digits of a UUIDv7, from its hexadecimal form. */
function digitsOf(uuid: string): string {
  const bits = BigInt(`0x${uuid.replaceAll('-', '')}`);
  const part = (from: bigint, length: bigint) =>
    Number((bits >> (128n - from - length)) & ((1n << length) - 1n));
  const counter = part(52n, 12n) * 2 ** 19 + part(66n, 19n);
  const [three, a, b, c, d] = [
    part(85n, 3n),
    part(88n, 10n),
    part(98n, 10n),
    part(108n, 10n),
    part(118n, 10n),
  ];
  return timeDigits(part(0n, 48n)) + otherDigits(counter, three, a, b, c, d);
}

describe('the digits of a UUIDv7', () => {
  it('are those that the specification of TypeIDs publishes', () => {
    expect(digitsOf('01890a5d-ac96-774b-bcce-b302099a8057')).toBe('01h455vb4pex5vsknk084sn02q');
  });

  it('are those of the reference implementation, for the example of RFC 9562 and for any other', () => {
    expect(digitsOf('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')).toBe(
      fromUUID('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '').toString(),
    );
    fc.assert(
      fc.property(fc.uuid({ version: 7 }), (uuid) => {
        expect(digitsOf(uuid)).toBe(fromUUID(uuid, '').toString());
      }),
    );
  });
});

describe('new digits', () => {
  const uuidOf = (text: string) => toUUID(`id_${text}` as never);

  it('are those of a UUIDv7 with the time of the clock', () => {
    const next = createDigits(() => 0x017f22e279b0);
    for (let made = 0; made < 10_000; made++)
      expect(uuidOf(next())).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('are higher than those before, also when the clock is set back by less than ten seconds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -9_999, max: 1_000 }), { maxLength: 200 }), (steps) => {
        let [clock, last] = [1_800_000_000_000, 0];
        const next = createDigits(() => clock);
        let before = '';
        for (const step of steps) {
          last = Math.max(last, clock);
          clock = step < 0 ? last + step : clock + step;
          const made = next();
          expect(made > before).toBe(true);
          before = made;
        }
      }),
    );
  });

  it('follow the clock when it is set back by more', () => {
    let clock = 1_800_000_000_000;
    const next = createDigits(() => clock);
    next();
    clock -= 10_000;
    expect(next().startsWith(timeDigits(clock))).toBe(true);
  });

  it('differ between processes: the counter begins anywhere, and the rest is chance', () => {
    const first = Array.from({ length: 1_000 }, () => createDigits(() => 0)());
    expect(new Set(first.map((text) => text.slice(10, 18))).size).toBeGreaterThan(990);
    const next = createDigits(() => 0);
    const chance = Array.from({ length: 3_200 }, () => next().slice(18));
    for (let at = 0; at < 8; at++) {
      const counts = new Map<string, number>();
      for (const text of chance) counts.set(text[at]!, (counts.get(text[at]!) ?? 0) + 1);
      expect(counts.size).toBe(32);
      // A hundred each on average; fifty would be five standard deviations off.
      for (const count of counts.values()) expect(count).toBeGreaterThan(50);
    }
  });
});
