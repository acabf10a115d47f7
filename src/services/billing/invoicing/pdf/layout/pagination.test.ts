import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, paginated } from './pagination.ts';

const rows = (count: number, height = 10): Block[] => Array.from({ length: count }, () => ({ height }));
const end = (...heights: number[]): Block[] => heights.map((height) => ({ height, group: 'end' }));

test.each([
  ['nothing', [], [[0, 0]]],
  ['what fits on one page', rows(3), [[0, 3]]],
  [
    'more than one page',
    rows(9),
    [
      [0, 3],
      [3, 8],
      [8, 9],
    ],
  ],
  [
    'a group that would be divided',
    [...rows(2), ...end(10, 10)],
    [
      [0, 2],
      [2, 4],
    ],
  ],
  ['a group that fits', [...rows(1), ...end(10, 10)], [[0, 3]]],
  [
    'a group that is higher than any page',
    end(20, 20, 20),
    [
      [0, 1],
      [1, 3],
    ],
  ],
  [
    'a first block that is higher than the first page',
    rows(1, 40),
    [
      [0, 0],
      [0, 1],
    ],
  ],
  [
    'a block that is higher than any page',
    [{ height: 99 }, { height: 10 }],
    [
      [0, 0],
      [0, 1],
      [1, 2],
    ],
  ],
] as const)('%s', (_what, blocks, pages) => {
  expect(paginated(blocks, { first: 30, later: 50 })).toEqual(pages);
});

test('every block is on one page, in order, and only a block that is too high by itself sticks out', () => {
  const block = fc.record({
    height: fc.integer({ min: 0, max: 60 }),
    group: fc.constantFrom(undefined, 'a', 'b'),
  });
  fc.assert(
    fc.property(fc.array(block), (blocks) => {
      const pages = paginated(blocks, { first: 30, later: 50 });
      expect(pages.map(([from]) => from)).toEqual([0, ...pages.slice(0, -1).map(([, to]) => to)]);
      expect(pages.at(-1)![1]).toBe(blocks.length);
      for (const [at, [from, to]] of pages.entries()) {
        const height = blocks.slice(from, to).reduce((sum, one) => sum + one.height, 0);
        expect(
          height <= (at === 0 ? 30 : 50) ||
            blocks.slice(from, to).filter((one) => one.height > 0).length === 1,
        ).toBe(true);
      }
    }),
  );
});
