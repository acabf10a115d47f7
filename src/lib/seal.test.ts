import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer } from './seal.ts';

const master = randomBytes(32);
const sealer = createSealer(master);

describe('a sealed value', () => {
  it('opens to what it was, for the same purpose and tenant only', () =>
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), fc.string(), (plain, purpose, tenant) => {
        const box = sealer.seal(purpose, tenant, plain);
        expect(Uint8Array.from(sealer.open(purpose, tenant, box))).toEqual(plain);
        expect(() => sealer.open(`${purpose}x`, tenant, box)).toThrow();
        expect(() => sealer.open(purpose, `${tenant}x`, box)).toThrow();
      }),
    ));

  it('does not open once any of its bits is changed', () => {
    const box = sealer.seal('p', 't', 'secret');
    for (let at = 0; at < box.length; at++) {
      const changed = Buffer.from(box);
      changed[at] = changed[at]! ^ 1;
      expect(() => sealer.open('p', 't', changed), `byte ${at}`).toThrow();
    }
  });

  it('is another one every time', () =>
    expect(sealer.seal('p', 't', 'x').equals(sealer.seal('p', 't', 'x'))).toBe(false));

  it('opens after the master key was replaced, as long as the previous one is known', () => {
    const box = sealer.seal('p', 't', 'secret');
    const next = randomBytes(32);
    expect(createSealer(next, master).open('p', 't', box).toString()).toBe('secret');
    expect(() => createSealer(next).open('p', 't', box)).toThrow('another master key');
  });
});

it('a mac differs by purpose, tenant, text and master key', () => {
  const macs = [
    sealer.mac('p', 't', 'x'),
    sealer.mac('q', 't', 'x'),
    sealer.mac('p', 'u', 'x'),
    sealer.mac('p', 't', 'y'),
    createSealer(randomBytes(32)).mac('p', 't', 'x'),
  ].map((mac) => mac.toString('hex'));
  expect(new Set(macs).size).toBe(macs.length);
  expect(sealer.mac('p', 't', 'x').toString('hex')).toBe(macs[0]);
});

it('a mac is verified under its master key and as the previous one, for its purpose, tenant and text only', () => {
  const mac = sealer.mac('p', 't', 'x');
  const next = createSealer(randomBytes(32), master);
  for (const knowing of [sealer, next]) {
    expect(knowing.verifies('p', 't', 'x', mac)).toBe(true);
    expect(knowing.verifies('q', 't', 'x', mac)).toBe(false);
    expect(knowing.verifies('p', 'u', 'x', mac)).toBe(false);
    expect(knowing.verifies('p', 't', 'y', mac)).toBe(false);
    expect(knowing.verifies('p', 't', 'x', mac.subarray(1))).toBe(false);
    expect(knowing.verifies('p', 't', 'x', Buffer.alloc(0))).toBe(false);
  }
  expect(next.mac('p', 't', 'x').equals(mac)).toBe(false);
  expect(createSealer(randomBytes(32)).verifies('p', 't', 'x', mac)).toBe(false);
});

it('a master key has 32 bytes', () => expect(() => createSealer(randomBytes(31))).toThrow('32 bytes'));
