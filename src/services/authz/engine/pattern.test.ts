import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern, indexOfPart } from './pattern.ts';

/** The page's rule as a regular expression. */
const naive = (pattern: string) =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*')}$`,
  );

const text = (length: number) =>
  fc.array(fc.constantFrom('a', 'b'), { maxLength: length }).map((letters) => letters.join(''));

test('a compiled pattern covers what the rule says', () => {
  fc.assert(
    fc.property(fc.array(text(4), { minLength: 1, maxLength: 5 }), text(14), (parts, subject) => {
      const pattern = parts.join('*');
      expect(compilePattern(pattern)(subject)).toBe(naive(pattern).test(subject));
    }),
    { numRuns: 5_000 },
  );
});

test('a long part is found where indexOf finds it', () => {
  fc.assert(
    fc.property(text(60), text(10), fc.nat(30), (part, before, from) => {
      const long = `${part}abababababababab`;
      for (const subject of [`${before}${long}b`, `${before}${long.slice(1)}`, `${before}${part}${long}`])
        expect(indexOfPart(subject, long, from)).toBe(subject.indexOf(long, from));
    }),
    { numRuns: 3_000 },
  );
});
