import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pace } from '../pace.ts';
import { fold } from '../views/folding.ts';
import { reading } from '../views/readings.ts';
import { textOf } from '../views/view.ts';
import { Keywords } from './keywords.ts';

const pace = () => new Pace(() => Promise.resolve());

async function places(list: readonly string[], text: string, match: 'word' | 'substring') {
  const found = await new Keywords(list).find([reading(fold(text), undefined)], pace());
  return (keyword: string) =>
    [...(found(keyword, match) ?? [])].map(([start, end]) => text.slice(start, end));
}

test.each([
  ['zebra', 'A Zebra, two zebras', 'word', ['Zebra']],
  ['zebra', 'A Zebra, two zebras', 'substring', ['Zebra', 'zebra']],
  ['internal roadmap', 'the internal\n  roadmap', 'word', ['internal\n  roadmap']],
  ['C++', 'I like C++.', 'word', ['C++']],
  ['天气', '今天天气很好', 'word', ['天气']],
  ['über', 'Über uns', 'word', ['Über']],
  ['\u200b', 'x', 'word', []],
] as const)('%s in %j as a %s', async (keyword, text, match, expected) => {
  expect((await places([keyword], text, match))(keyword)).toEqual(expected);
});

test('many keywords are found where a search for each finds them', async () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(word, { maxLength: 20 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ') }),
      async (list, text) => {
        const folded = textOf(fold(text));
        const find = await places(list, text, 'substring');
        for (const keyword of list) expect(find(keyword).length > 0).toBe(folded.includes(keyword));
      },
    ),
    { numRuns: 100 },
  );
});

test('20,000 keywords are found', async () => {
  const list = Array.from({ length: 20_000 }, (_, n) => `word${n.toString(36)}x`);
  const find = await places(list, 'a wordffx and a word0x and a wordfx', 'word');
  expect(list.filter((keyword) => find(keyword).length > 0)).toEqual(['word0x', 'wordfx', 'wordffx']);
});
