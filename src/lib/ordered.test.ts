import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ordered } from './ordered.ts';

test('a list is sorted as a whole, and equal members stay in their order', async () => {
  const member = fc.record({ key: fc.nat(50), place: fc.nat() });
  await fc.assert(
    fc.asyncProperty(fc.array(member, { maxLength: 15_000, size: 'max' }), async (list) => {
      const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;
      expect(await ordered(list, byKey, () => Promise.resolve())).toEqual(list.toSorted(byKey));
    }),
    { numRuns: 20 },
  );
});
