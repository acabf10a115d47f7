import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { longestTurnOf, onThisMachine } from '../../../../testing/processor-time.ts';
import { Pace } from '../pace.ts';
import { checkRegex } from './checks.ts';
import { Expressions } from './expressions.ts';

const pace = () => new Pace(() => Promise.resolve());

async function matches(source: string, text: string): Promise<string[]> {
  const spans = (await new Expressions([source]).find(text, pace())).get(source);
  return spans === undefined ? [] : [...spans].map(([start, end]) => text.slice(start, end));
}

test.each([
  [String.raw`\bEMP-[0-9]{6}\b`, 'EMP-123456, EMP-1234567 and EMP-654321', ['EMP-123456', 'EMP-654321']],
  ['^a+', 'aaa a', ['aaa']],
  ['(?m)^a$', 'a\nb\na', ['a', 'a']],
  ['b$', 'abab', ['b']],
  ['(?i)zebra', 'a ZEBRA', ['ZEBRA']],
  ['a*', 'baab', ['aa']],
  ['.', '👍a', ['👍', 'a']],
  ['👍+', 'x👍👍y', ['👍👍']],
  ['foo|foobar', 'foobar', ['foobar']],
  ['x{3}', 'xxxxxx', ['xxx', 'xxx']],
])('%s in %j is %j', async (source, text, expected) => {
  expect(await matches(source, text)).toEqual(expected);
});

test('what matches is what the library finds', async () => {
  const part = fc.constantFrom('a', 'b', '.', '[ab]', '\\b', '^', '$', 'a*', 'b+', '(a|bb)', 'a?', '\\s');
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 5 }),
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '👍'), maxLength: 30 }),
      async (parts, text) => {
        const source = parts.join('');
        const matcher = RE2JS.compile(source).matcher(text);
        let isFound = false;
        while (matcher.find()) isFound ||= matcher.end() > matcher.start();
        // The library prefers some matches that are empty to longer ones, which count here.
        if (isFound) expect((await matches(source, text)).length).toBeGreaterThan(0);
        for (const found of await matches(source, text)) expect(text).toContain(found);
      },
    ),
    { numRuns: 200 },
  );
});

test('many expressions are found together as each alone', async () => {
  const sources = Array.from({ length: 100 }, (_, n) => `k${n}[a-z]`);
  const found = await new Expressions(sources).find('k7x k42y k77 k99z', pace());
  expect([...found.keys()]).toEqual(['k7[a-z]', 'k42[a-z]', 'k99[a-z]']);
});

test('expressions that are found together keep their anchors, cases and classes of characters', async () => {
  const sources = ['^a', '(?i)ök', '\\pL{3}[0-9]', '[^\\x00-\\x7f]$', 'a|zz', '', 'x*'];
  const text = 'aÖK äöü1 zz xxé';
  const together = await new Expressions(sources).find(text, pace());
  for (const source of sources)
    expect(
      [...(together.get(source) ?? [])].map(([start, end]) => text.slice(start, end)),
      source,
    ).toEqual(await matches(source, text));
  expect(together.size).toBe(6);
});

test('everything about many large expressions is done in short steps', async () => {
  const sources = [
    ...Array.from({ length: 40 }, (_, n) => `${'\\pL'.repeat(120)}${n}`),
    ...Array.from({ length: 100 }, (_, n) => `(a|b|c)*[ab]{8}c${n}`),
  ];
  const text = 'abcabbéa'.repeat(2_000);
  const run = () =>
    longestTurnOf(() =>
      new Expressions(sources).find(text, new Pace(() => new Promise((resolve) => setImmediate(resolve)))),
    );
  expect(Math.min(await run(), await run())).toBeLessThan(onThisMachine(10));
});

test.each([
  ['(', 'missing closing ) at 1'],
  ['a(?=b)', 'at 2'],
  ['x'.repeat(513), 'longer than 512 characters'],
  ['(a{100}){100}', 'more than 2000 instructions'],
  ['a[', 'at 2'],
  [`(?i)${'[Ā-𞥃]'.repeat(40)}`, 'more than 2000 instructions'],
])('%s is refused with its position', (source, message) => {
  expect(() => checkRegex(source)).toThrow(message);
});

test('the size of a program is known', () => {
  expect(checkRegex('abc').programSize).toBeGreaterThan(0);
});
