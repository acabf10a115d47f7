import { crc32c } from '@node-rs/crc32';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { crcHex } from '../content/crc-combination.ts';
import { etagOf } from '../content/entity-tag.ts';
import {
  assembled,
  checkExpected,
  checkObjectSize,
  checkPartSizes,
  chosenParts,
  listDigest,
  listOf,
  type PartRow,
} from './completion.ts';

const part = (part_number: number, content: string): PartRow => ({
  part_number,
  size: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
  crc32c: crcHex(crc32c(content)),
});
const [one, two, four] = [part(1, 'abc'), part(2, 'def'), part(4, 'g')];
const named = (...parts: PartRow[]) => listOf(parts);

describe('the parts of an object', () => {
  test('are all of them without a list', () => {
    expect(chosenParts([one, two], {})).toEqual([one, two]);
    expect(chosenParts([one, two], { parts: null, allow_subset: true })).toEqual([one, two]);
  });

  test.each([
    ['nothing', [], 'part 1 is missing'],
    ['a gap', [one, two, four], 'part 3 is missing'],
    ['no first one', [two], 'part 1 is missing'],
  ])('without a list and with %s are refused', (_, stored, problem) =>
    expect(() => chosenParts(stored, {})).toThrow(problem),
  );

  test('are those of the list, which may have gaps', () => {
    expect(chosenParts([one, two, four], { parts: named(one, two, four) })).toEqual([one, two, four]);
    expect(chosenParts([one, two, four], { parts: named(two), allow_subset: true })).toEqual([two]);
  });

  const changed = { part_number: 2, etag: etagOf(one.sha256) };
  test.each([
    ['a forgotten first part', named(two, four), 'part 1 was uploaded but not listed'],
    ['a forgotten part', named(one, four), 'part 2 was uploaded but not listed'],
    ['a forgotten last part', named(one, two), 'part 4 was uploaded but not listed'],
    ['a part that is not there', named(one, two, part(3, ''), four), 'part 3 is missing'],
    ['a part after the last', named(one, two, four, part(5, '')), 'part 5 is missing'],
    ['a changed part', [...named(one), changed, ...named(four)], 'part 2 has another etag'],
    ['the first of two differences', [changed, ...named(part(5, ''))], 'part 1 was uploaded but not listed'],
    ['a part twice', named(one, one), 'parts[1].part_number: must be greater than the one before'],
    ['another order', named(two, one), 'parts[1].part_number: must be greater than the one before'],
  ])('a list with %s is refused', (_, parts, problem) =>
    expect(() => chosenParts([one, two, four], { parts })).toThrow(problem),
  );

  test.each([
    ['a missing part', named(one, part(3, '')), 'part 3 is missing'],
    ['a changed part', [changed], 'part 2 has another etag'],
  ])('also a subset with %s is refused', (_, parts, problem) =>
    expect(() => chosenParts([one, two, four], { parts, allow_subset: true })).toThrow(problem),
  );

  test('are large enough, but for the last', () => {
    expect(() => checkPartSizes([one, two, four], 3)).not.toThrow();
    expect(() => checkPartSizes([one, two, four], 4)).toThrow('part 1 is smaller than 4 bytes');
    expect(() => checkPartSizes([four], 4)).not.toThrow();
  });
});

describe('an object of parts', () => {
  const whole = assembled([one, two]);

  test('has the documented entity tag and checksum', () =>
    expect(whole).toEqual({
      size: 6,
      etag: '"9c04d30057b754af1b2d2d4f5675782dd61a5a659c34ee6c2af47526b66cafa6-2"',
      checksum: 'crc32c:53bceff1',
    }));

  test('is what the request expects', () => {
    const expectation = (expected: object) => () => checkExpected(whole, expected);
    expect(expectation({ size: 6, checksum: 'crc32c:53bceff1' })).not.toThrow();
    expect(expectation({ size: null, checksum: null })).not.toThrow();
    expect(expectation({ size: 7 })).toThrow('size mismatch: expected 7 got 6');
    expect(expectation({ checksum: 'crc32c:00000000' })).toThrow(
      'checksum mismatch: crc32c expected 00000000 got 53bceff1',
    );
  });

  test('is not larger than its bucket or the service allows', () => {
    expect(() => checkObjectSize(whole, 6)).not.toThrow();
    expect(() => checkObjectSize(whole, 5)).toThrow('object too large: at most 5 bytes');
    const huge = { ...whole, size: 5 * 1024 ** 4 + 1 };
    expect(() => checkObjectSize(huge, 0)).toThrow('object too large: at most 5497558138880 bytes');
    expect(() => checkObjectSize({ ...huge, size: huge.size - 1 }, 0)).not.toThrow();
  });

  test('has another list when anything in it differs', () => {
    const digests = [named(one, two), named(one), named(two, one), named(one, four)].map((list) =>
      listDigest(list).toString('hex'),
    );
    expect(new Set(digests).size).toBe(4);
  });
});
