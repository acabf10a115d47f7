import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashRawKey, makeRawKey, makeTag, parseRawKey } from './raw-key.ts';

const bytes = Uint8Array.from({ length: 32 }, (_, index) => index);
const vector = 'sk_live_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2mcEX8';

describe('the published vector', () => {
  it('is made from the bytes 00 to 1f, tag 000001, prefix sk, environment live', () => {
    const made = makeRawKey({ prefix: 'sk', environment: 'live', tag: '000001' }, bytes);
    expect(made).toEqual({
      rawKey: vector,
      hash: '12896cbb99fb4fd7ad502d136cc8a2be6335fa9b0d53bdb61553a2bad5d73eb2',
      hint: 'cEX8',
    });
  });

  it('has other check digits in another environment, because they cover everything before them', () => {
    const made = makeRawKey({ prefix: 'sk', environment: 'test', tag: '000001' }, bytes);
    expect(made.rawKey.endsWith('lf0g0rHl')).toBe(true);
  });

  it('is taken apart into what it was made from', () => {
    expect(parseRawKey(vector)).toEqual({ prefix: 'sk', environment: 'live', tag: '000001' });
  });
});

const prefixes = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/);
const environments = fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/);

describe('reading a raw key', () => {
  it('finds prefix and environment whatever underscores and hyphens they hold', () => {
    fc.assert(
      fc.property(prefixes, environments, (prefix, environment) => {
        const parts = { prefix, environment, tag: makeTag() };
        expect(parseRawKey(makeRawKey(parts).rawKey)).toEqual(parts);
      }),
    );
  });

  it.each([
    ['a_b-c', 'eu-west-1'],
    ['a__b', 'live'],
    ['pst', 'live'],
    ['Z'.repeat(32), `a${'9'.repeat(31)}`],
  ])('reads prefix %s with environment %s', (prefix, environment) => {
    const parts = { prefix, environment, tag: 'aZ09bY' };
    expect(parseRawKey(makeRawKey(parts).rawKey)).toEqual(parts);
  });

  it('never mistakes a key with prefix pst for a session token, nor a session token for a key', () => {
    const session = 'pst_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2FLoJV';
    const key = makeRawKey({ prefix: 'pst', environment: 'live', tag: '000001' }).rawKey;
    expect(parseRawKey(session)).toBeUndefined();
    expect(key).not.toMatch(/^pst_[0-9A-Za-z]{55}$/);
    expect(parseRawKey(key)?.prefix).toBe('pst');
  });

  it.each([
    ['', 'nothing'],
    ['sk_live_', 'no random part'],
    [vector.slice(1), 'a truncated start'],
    [vector.slice(0, -1), 'a truncated end'],
    [`${vector}\n`, 'a trailing newline'],
    [` ${vector}`, 'a leading blank'],
    [vector.toUpperCase(), 'another case'],
    [`_${vector.slice(2)}`, 'an empty prefix'],
    [vector.replace('_live_', '__'), 'an empty environment'],
    ['x'.repeat(4096), 'a long string'],
    [`sk_live_${'é'.repeat(55)}`, 'letters outside ASCII'],
    [`sk_live_${'\u0000'.repeat(55)}`, 'control characters'],
  ])('refuses %j: %s', (text) => {
    expect(parseRawKey(text)).toBeUndefined();
  });

  it('refuses 300,000 random mutations of raw keys unless the check digits were recomputed to match', () => {
    const random = seeded(20261120);
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-';
    const letter = () => alphabet.charAt(random(alphabet.length));
    const keys = Array.from(
      { length: 64 },
      () => makeRawKey({ prefix: 's_k-1', environment: 'live', tag: makeTag() }).rawKey,
    );
    let passed = 0;
    for (let round = 0; round < 300_000; round++) {
      const key = keys[round % keys.length] ?? vector;
      const at = random(key.length);
      const mutations = [
        () => key.slice(0, at) + letter() + key.slice(at + 1),
        () => key.slice(0, at) + key.slice(at + 1),
        () => key.slice(0, at) + letter() + key.slice(at),
        () => key.slice(0, at) + (key[at + 1] ?? '') + (key[at] ?? '') + key.slice(at + 2),
      ];
      const mutated = mutations[round % mutations.length]?.() ?? key;
      if (mutated !== key && parseRawKey(mutated) !== undefined) passed += 1;
    }
    // CRC-32 detects every burst of up to 32 bits, and so every substitution and swap. A mutation that shifts the rest of the
    // string has one chance in four billion of passing.
    expect(passed).toBe(0);
  });
});

describe('making a raw key', () => {
  it('stores the SHA-256 of the whole string and shows its last four characters', () => {
    const made = makeRawKey({ prefix: 'sk', environment: 'live', tag: makeTag() });
    expect(made.hash).toBe(hashRawKey(made.rawKey));
    expect(made.hint).toBe(made.rawKey.slice(-4));
  });

  it('fits the form that secret scanners search for, with every key different', () => {
    const made = Array.from({ length: 200 }, () =>
      makeRawKey({ prefix: 'sk', environment: 'live', tag: makeTag() }),
    );
    expect(new Set(made.map(({ rawKey }) => rawKey)).size).toBe(200);
    for (const { rawKey } of made) {
      expect(rawKey).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]*_[a-z][a-z0-9-]{0,31}_[0-9A-Za-z]{55}$/);
    }
  });

  it('pads small numbers, so that every part has its fixed length', () => {
    const { rawKey } = makeRawKey({ prefix: 'sk', environment: 'live', tag: '000000' }, new Uint8Array(32));
    expect(rawKey.slice(0, -6)).toBe(`sk_live_000000${'0'.repeat(43)}`);
  });
});

/** A small repeatable generator (mulberry32), so that a failure of the mutation run can be replayed. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
