import { expect, test } from 'vitest';
import { type FaceOf, piecesOf } from './pieces.ts';

/** A font for Latin, one for Greek and one for the scripts from the right. */
const faceOf: FaceOf = (character, current) => {
  if (/[\s\p{M}]/u.test(character)) return current ?? 0;
  if (/[\p{Script=Latin}\p{Script=Common}\ufffd]/u.test(character) && character.length === 1) return 0;
  if (/\p{Script=Greek}/u.test(character)) return 1;
  return /[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(character) ? 2 : undefined;
};
const shown = (line: string) =>
  piecesOf(line, faceOf).map(({ face, text, isReversed }) => `${isReversed ? '<' : ''}${face}:${text}`);

test.each([
  ['', []],
  ['Acme GmbH', ['0:Acme GmbH']],
  ['Ωmega 5', ['1:Ω', '0:mega 5']],
  ['אבג', ['<2:אבג']],
  // Numbers and names in another direction stay as they are; the words around them change places.
  ['אבג 20 דה', ['<2:דה', '0: ', '0:20', '<2:אבג ']],
  ['Pro אבג דה 7', ['0:Pro ', '0:7', '<2:אבג דה ']],
  // The font that draws brackets reverses nothing, so they are mirrored and turned here.
  ['אב (גד)', ['0:(', '<2:גד', '0:)', '<2:אב ']],
])('%j is drawn as %j', (line, pieces) => {
  expect(shown(line)).toEqual(pieces);
});

test('characters that no font has become visible replacements, without their marks and joiners', () => {
  expect(shown('a日b')).toEqual(['0:a\ufffdb']);
  expect(shown('👩‍👧')).toEqual(['0:\ufffd\ufffd']);
});
