import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deletionBatches } from './deletion-batches.ts';

test('objects in one piece are one batch', () => {
  expect(deletionBatches(['a', 'b', 'c'], [])).toEqual([['a', 'b', 'c']]);
  expect(deletionBatches([], [])).toEqual([]);
});

test('objects in parts are divided, and one that is too large is alone', () => {
  const inParts = [
    { key: 'b', segments: 6 },
    { key: 'c', segments: 5 },
    { key: 'd', segments: 20 },
  ];
  expect(deletionBatches(['a', 'b', 'c', 'd', 'e'], inParts, 10)).toEqual([['a', 'b'], ['c'], ['d'], ['e']]);
});

test('every key is in one batch, in order', () => {
  const objects = fc.uniqueArray(fc.record({ key: fc.string(), segments: fc.nat(30) }), {
    selector: ({ key }) => key,
  });
  fc.assert(
    fc.property(objects, (all) => {
      const keys = all.map(({ key }) => key);
      expect(deletionBatches(keys, all, 20).flat()).toEqual(keys);
    }),
  );
});
