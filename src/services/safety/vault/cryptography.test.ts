import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestOf, hashOf, open, seal, tokenOf, vaultKeysOf } from './cryptography.ts';

const keys = vaultKeysOf(Buffer.from(Array.from({ length: 32 }, (_, index) => index)));
const place = { tenant: 'tenant-1', token: 'EMAIL_pwdhqk8ttd', name: 'email' };

test('the keys of a tenant are derived from its data key', () => {
  expect(keys.hash.export().toString('hex')).toBe(
    'fb1ef103d197e3cadadbf97e1106aab1ca8ec59d8c97a5fccd95916fb4eadfe2',
  );
  expect(keys.token.export().toString('hex')).toBe(
    'd6c7c1bdeaaaf63ebc226ce26cd3c281d991e124b367f30d7948a862436d9448',
  );
  expect(keys.vault.export().toString('hex')).toBe(
    '8443f688489004ebde21da153d1fc71c9e6f6c5ff0a4e9ba612c4f446f75e9fc',
  );
});

test('values are named by digests of what they mean, and by tokens of how they are written', () => {
  expect(hashOf(keys, 'email', 'john.smith@example.com')).toBe('27abd13818d3');
  const digest = digestOf(keys, 'email', 'John.Smith@example.com');
  expect(tokenOf(digest, 10)).toBe('pwdhqk8ttd');
  expect(tokenOf(digest, 16)).toHaveLength(16);
});

test('an original is sealed as documented', () => {
  const nonce = Buffer.from('000000000000000000000001', 'hex');
  expect(seal(keys, place, 'John.Smith@example.com', nonce).toString('base64')).toBe(
    'AQAAAAAAAAAAAAAAAcSsuzHmh7SVrE0izB9R+5gGKgYcv17PQkkK9mhY3n+tjLj056z5',
  );
});

test('an original opens where it was sealed, and nowhere else', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (original) => {
      const box = seal(keys, place, original);
      expect(open(keys, place, box)).toBe(original);
      for (const other of [{ tenant: 'tenant-2' }, { token: 'EMAIL_pwdhqk8tte' }, { name: 'phone' }])
        expect(() => open(keys, { ...place, ...other }, box)).toThrow();
      box[box.length - 1]! ^= 1;
      expect(() => open(keys, place, box)).toThrow();
    }),
    { numRuns: 50 },
  );
});
