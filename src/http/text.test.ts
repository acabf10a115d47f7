import { expect, it } from 'vitest';
import { parseJson } from './json.ts';

const anyTexts = { members: { text: true, messages: { items: { members: { content: true } } } } } as const;
const parse = (text: string) => parseJson(Buffer.from(text), 100, { anyTexts });

it('texts that may be any string are taken as they are', () => {
  expect(parse(String.raw`{"text":"\u0000\ud800","messages":[{"content":"\udfff"}]}`)).toEqual({
    text: '\0\ud800',
    messages: [{ content: '\udfff' }],
  });
});

it.each([
  [String.raw`{"text":"\u0000","name":"\u0000"}`, 'name: must not contain U+0000'],
  [String.raw`{"messages":[{"role":"\ud800"}]}`, 'messages[0].role: must not contain a lone surrogate'],
  [String.raw`{"a":{"text":"\u0000"}}`, 'a.text: must not contain U+0000'],
  [String.raw`{"\u0000":1}`, 'body: a member name: must not contain U+0000'],
])('other texts of the same body are refused: %s', (text, error) => {
  expect(() => parse(text)).toThrow(error);
});
