import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkShownText, problemOfShownText, withoutHidden } from './shown-text.ts';

it.each([
  ['a left-to-right override', '\u202D'],
  ['a right-to-left override', '\u202E'],
  ['an embedding', '\u202A'],
  ['the end of one', '\u202C'],
  ['an isolate', '\u2066'],
  ['the end of an isolate', '\u2069'],
  ['a left-to-right mark', '\u200E'],
  ['a right-to-left mark', '\u200F'],
  ['an Arabic letter mark', '\u061C'],
  ['a zero-width space', '\u200B'],
  ['a joiner between Latin letters', '\u200D'],
  ['a non-joiner between Latin letters', '\u200C'],
  ['a byte order mark', '\uFEFF'],
  ['a word joiner', '\u2060'],
  ['a Mongolian vowel separator', '\u180E'],
  ['a soft hyphen', '\u00AD'],
  ['a grapheme joiner', '\u034F'],
  ['a Hangul filler', '\u3164'],
  ['a variation selector after a letter', '\uFE0F'],
  ['a line separator', '\u2028'],
  ['an annotation', '\uFFF9'],
  ['a tag', '\u{E0041}'],
  ['an unassigned tag', '\u{E0002}'],
  ['no character', '\uFFFE'],
])('%s is refused by its number', (_name, character) => {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  expect(problemOfShownText(`Ada${character}Lovelace`)).toBe(
    `must not contain the invisible character U+${code}`,
  );
  expect(withoutHidden(`Ada${character}Lovelace`)).toBe('AdaLovelace');
});

it.each(['\u0000', '\n', '\t', '\u007F', '\u0085', '\u009F'])(
  '%j is refused as a control character',
  (text) => {
    expect(problemOfShownText(`Ada${text}Lovelace`)).toBe('must not contain control characters');
  },
);

it.each(['\u2800', ' \u2800\u3000', ' '])('%j is refused as blank', (text) => {
  expect(problemOfShownText(text)).toBe('must not be blank');
});

it.each([
  'Ada Lovelace',
  'Ærøskøbing Łódź',
  'Ада Лавлейс',
  'محمد بن سلمان',
  'می\u200Cخواهم',
  'क्\u200Dष',
  'ශ්\u200Dරී ලංකා',
  '山田太郎',
  '辻\u{E0100}',
  '김철수',
  'שָׁלוֹם',
  'ᠮᠣᠩᠭᠣᠯ',
  '👩\u200D💻 Ada',
  '👩🏽\u200D🚀',
  '🏳\uFE0F\u200D🌈',
  '❤\uFE0F',
  '1\uFE0F\u20E3',
  '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}',
  'AT&T, Inc. <"\'>',
  '',
])('%s is a name', (text) => {
  expect(problemOfShownText(text)).toBeUndefined();
  expect(withoutHidden(text)).toBe(text);
});

it('what is left without what is hidden, hides nothing', () => {
  const character = fc.oneof(
    fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code).toWellFormed()),
    fc.constantFrom('\u200D', '\u202E', '👩', '💻', 'ش', '\uFE0F', '\u{E0067}', '🏴'),
  );
  fc.assert(
    fc.property(fc.array(character, { maxLength: 20 }), (parts) => {
      const rest = withoutHidden(parts.join(''));
      expect([undefined, 'must not be blank']).toContain(problemOfShownText(rest));
    }),
  );
});

it('is measured in time that grows with the text alone', () => {
  checkShownText('name', '👩\u200D💻'.repeat(5_000));
  expect(() => checkShownText('name', `${'ش\u200C'.repeat(20_000)}x`)).toThrow('name: must not contain');
});

it('nothing is no text', () => {
  checkShownText('name', undefined);
  checkShownText('name', null);
});
