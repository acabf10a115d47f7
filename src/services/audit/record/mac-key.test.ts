import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MacKey, sha256 } from './mac-key.ts';

const anyMessage = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
);

it('MACs are those of the library, also one after the other with the same key', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 64 }),
      fc.array(anyMessage, { minLength: 1 }),
      (bytes, messages) => {
        const key = new MacKey(bytes);
        const all = createHmac('sha256', bytes);
        for (const message of messages) {
          expect(key.of(message)).toEqual(createHmac('sha256', bytes).update(message).digest());
          all.update(message);
        }
        expect(key.of(...messages)).toEqual(all.digest());
        const long = 'é'.repeat(4_000);
        expect(key.of(long)).toEqual(createHmac('sha256', bytes).update(long).digest());
      },
    ),
  );
});

it('digests are those of the library', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      expect(sha256(message)).toEqual(createHash('sha256').update(message).digest());
    }),
  );
});

it('a key that would have to be hashed is refused', () => {
  expect(() => new MacKey(Buffer.alloc(65))).toThrow('hashed');
});
