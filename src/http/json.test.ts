import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from './json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

test('every JSON value of ordinary text is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('\\u0000'));
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
  );
});

describe('what cannot be stored is refused by the name of its field', () => {
  test.each([
    ['{"a":{"b":["x","\\u0000"]}}', 'a.b[1]: must not contain U+0000'],
    ['{"name":"\\ud800"}', 'name: must not contain a lone surrogate'],
    ['{"name":"\\uDC00x"}', 'name: must not contain a lone surrogate'],
    ['{"free":{"\\u0000":1}}', 'free: a member name: must not contain U+0000'],
    ['{"\\ud800":1}', 'body: a member name: must not contain a lone surrogate'],
    ['"\\u0000"', 'body: must not contain U+0000'],
  ])('%s', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('whole surrogate pairs and escaped backslashes are no such thing', () => {
    expect(parse('{"a":"\\ud83d\\ude00","b":"\\\\u0000"}')).toEqual({ a: '😀', b: '\\u0000' });
  });
});

describe('nesting', () => {
  test.each([
    ['100,000 arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['100,000 objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
    ['65 levels', '['.repeat(65) + ']'.repeat(65)],
    ['levels behind strings with quotes', `["\\"[", ${'['.repeat(64)}${']'.repeat(64)}]`],
  ])('%s are refused', (_, text) => {
    expect(() => parse(text)).toThrow('body: nested deeper than 64 levels');
  });

  test('64 levels pass, and brackets in strings are no levels', () => {
    expect(parse('['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array);
    expect(parse(JSON.stringify({ a: '[{'.repeat(500), b: '\\"[' }))).toHaveProperty('b', '\\"[');
  });
});

test.each([
  '',
  '{',
  '{"a":1,}',
  '{"a":undefined}',
  '\ufeff{}',
  '{"a":1}x',
  "{'a':1}",
  '"unfinished'.repeat(40),
])('what is not JSON is refused without being repeated: %j', (text) => {
  expect(() => parse(text)).toThrow(/^body: not valid JSON$/);
});

test('bytes that are not UTF-8 are refused', () => {
  expect(() => parseJson(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toThrow('body: must be UTF-8');
  expect(() => parseJson(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toThrow('body: must be UTF-8');
});
