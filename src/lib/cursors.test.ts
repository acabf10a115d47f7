import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './cursors.ts';

const shape = { created_at: 'time', id: 'string' } as const;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a cursor is read back as it was written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer(), (id, count) => {
      expect(decodeCursor(encodeCursor({ id, count }), { id: 'string', count: 'number' })).toEqual({
        id,
        count,
      });
    }),
  );
});

test.each([
  '',
  '!',
  'bm8',
  encode(null),
  encode([]),
  encode({}),
  encode({ created_at: '2026-11-20T09:30:00.000Z' }),
  encode({ created_at: 'yesterday', id: 'a' }),
  encode({ created_at: '2026-13-20T09:30:00.000Z', id: 'a' }),
  encode({ created_at: '2026-02-30T09:30:00.000Z', id: 'a' }),
  encode({ created_at: '2026-11-20T24:00:00.000Z', id: 'a' }),
  encode({ created_at: '0000-11-20T09:30:00.000Z', id: 'a' }),
  encode({ created_at: '2026-11-20T09:30:00.000Z', id: 1 }),
  encode({ created_at: '2026-11-20T09:30:00.000Z', id: '\0' }),
  encode({ created_at: '2026-11-20T09:30:00.000Z', id: 'x'.repeat(3000) }),
])('%j is refused as a cursor', (text) => {
  expect(() => decodeCursor(text, shape)).toThrow(/^cursor: /);
});

test('no text makes decoding fail in another way', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.jsonValue().map(encode)), (text) => {
      try {
        decodeCursor(text, shape);
      } catch (error) {
        expect(error).toMatchObject({ kind: 'invalid' });
      }
    }),
  );
});
