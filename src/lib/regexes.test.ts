import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { bestTimeOf, onThisMachine } from '../testing/processor-time.ts';
import { unrolledSize } from './regex-size.ts';
import { costOfMatch, isFound, isWhole, sizeOfRegex } from './regexes.ts';

test.each([
  ['abc', 3],
  ['a{1000}', 1_000],
  ['(a?){990}(a?){990}', 3_960],
  ['((a{10}){10}){10}', 1_110],
  ['[a{9}]{3}x', 4],
  ['[]{9}()]{3}', 3],
  ['[[:alpha:]{9}]{2}', 2],
  [String.raw`\({3}\x{1F600}{4}`, 7],
  [String.raw`\pL{10}[^\p{Greek}]`, 231],
  ['a{2,}b{3,7}c{,5}', 14],
  ['a|b*c+', 3],
  ['[Ā-￿]', 1],
  ['(?i)[a-z]{9}', 13],
  ['(?i)[Ā-￿]{2}', 2_724],
  [String.raw`(?mi:[\x{100}-\x{10ffff}\xC0-\xff])`, 5_217],
  [String.raw`(?i)[\x{zz}-b]`, 5],
  [String.raw`(?i)\pL{10}`, 292],
  ['((((', 4],
  [')))', 3],
])('%s has %i atoms when it is written out', (expression, size) => {
  expect(unrolledSize(expression)).toBe(size);
});

test('what is written out is never much less than the program that it becomes', () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const parts = [
    'a',
    '.',
    '(',
    ')',
    '(?:',
    '|',
    '?',
    '*',
    '{3}',
    '{2,9}',
    '[b-x]',
    '[)({4}]',
    '\\)',
    '\\pL',
    '^',
    '$',
  ];
  let compiled = 0;
  for (let round = 0; round < 20_000; round++) {
    const expression = Array.from({ length: 1 + random(14) }, () => parts[random(parts.length)]).join('');
    const unrolled = unrolledSize(expression);
    if (unrolled > 4_000) continue;
    let size: number;
    try {
      size = RE2JS.compile(expression).programSize();
    } catch {
      continue;
    }
    compiled += 1;
    expect(size, expression).toBeLessThanOrEqual(8 * unrolled + 20);
  }
  expect(compiled).toBeGreaterThan(1_000);
});

test('what would take long to compile has no size, and is not compiled', () => {
  const judge = () => {
    expect(sizeOfRegex('(a?){1000}'.repeat(25))).toBeUndefined();
    expect(sizeOfRegex(String.raw`(?i)[^\pL]{31}`.repeat(18))).toBeUndefined();
    expect(sizeOfRegex(`(?i)${'[Ā-𞥃]'.repeat(40)}`)).toBeUndefined();
  };
  expect(bestTimeOf(judge)).toBeLessThan(onThisMachine(50));
  expect(sizeOfRegex('^[a-z0-9]{1,63}$')).toBeLessThan(200);
  expect(sizeOfRegex('(')).toBeUndefined();
});

test('an expression is found in a text, or is all of it', () => {
  const cost = costOfMatch(sizeOfRegex('b+')!, 'abb')!;
  expect(isFound('b+', 'abb', cost)).toBe(true);
  expect(isWhole('b+', 'abb', cost)).toBe(false);
  expect(isWhole('b+', 'bbb', cost)).toBe(true);
});
