import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestTimeOf, onThisMachine } from '../testing/processor-time.ts';
import { jsonTextOf, parseJson } from './json.ts';

const most = 20_000;
const parse = (text: string) => parseJson(Buffer.from(text), most);

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
  expect(() => parseJson(Buffer.from([0x22, 0xc3, 0x28, 0x22]), most)).toThrow('body: must be UTF-8');
  expect(() => parseJson(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), most)).toThrow('body: must be UTF-8');
});

describe('members and items are counted', () => {
  const members = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"m${index}":${index}`).join()}}`;

  test.each([
    ['80,000 members', members(80_000)],
    ['20,001 members in objects of one', `[${Array.from({ length: 10_001 }, () => '{"a":1}').join()}]`],
    ['500,000 items', `[${'0,'.repeat(499_999)}0]`],
    ['a million levels of nothing', '[]'.repeat(500_000)],
    ['what is no JSON at all', ','.repeat(1_000_000)],
  ])('%s are refused, in less than a parser needs', (_, text) => {
    const bytes = Buffer.from(text);
    const refused = () =>
      expect(() => parseJson(bytes, most)).toThrow('body: must have at most 20000 members and items');
    expect(bestTimeOf(refused)).toBeLessThan(onThisMachine(50));
  });

  test('as many as may be are read', () => {
    expect(Object.keys(parse(members(20_000)) as object)).toHaveLength(20_000);
    expect(parse(`{"a":[${'0,'.repeat(19_997)}0]}`)).toHaveProperty('a.length', 19_998);
  });

  test('commas and brackets in texts count for nothing', () => {
    const text = JSON.stringify({ a: ',[{"\\'.repeat(30_000) });
    expect(parse(text)).toEqual(JSON.parse(text));
  });
});

describe('a member that is given twice is refused by its name', () => {
  test.each([
    ['{"a":1,"a":2}', 'a: given more than once'],
    ['{"a":1,"b":2,"\\u0061":2}', 'a: given more than once'],
    ['{"a":{"b":[{},{"c":null,"d":1,"c":null}]}}', 'a.b[1].c: given more than once'],
    ['[{"a":"\\"","a":1}]', '[0].a: given more than once'],
    ['{"__proto__":1,"__proto__":2}', '__proto__: given more than once'],
    [`{"${'x'.repeat(100)}":1,"${'x'.repeat(100)}":2}`, `${'x'.repeat(63)}…: given more than once`],
  ])('%s', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test.each(['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', '{"":1," ":2}', '{"a\\"":1,"a":":"}'])(
    'and %s has none',
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );
});

describe('a number that would become another is refused by the name of its field', () => {
  const [largest, least, integer] = [
    'must be a number of at most 1.7976931348623157e+308 in size',
    'must be 0 or a number of at least 5e-324 in size',
    'must be an integer of at most 9007199254740991 in size, a larger one loses digits',
  ];
  test.each([
    ['{"a":1e400}', `a: ${largest}`],
    ['{"a":{"b":[0,-1E+999]}}', `a.b[1]: ${largest}`],
    ['1e309', `body: ${largest}`],
    ['{"a":1e-400}', `a: ${least}`],
    [`{"a":-0.${'0'.repeat(330)}1}`, `a: ${least}`],
    ['{"a":9007199254740993}', `a: ${integer}`],
    ['{"a":"1e400","b":-9007199254740993}', `b: ${integer}`],
    ['{"a":18446744073709551616}', `a: ${integer}`],
    ['{"a":12345678901234567890123}', `a: ${integer}`],
  ])('%s', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test.each([
    ...['0', '-0', '0e999', '0.0', '-0.0e-999', '1e308', '5e-324', '1e21', '1.5E+3', '123456789012345'],
    ...['9007199254740991', '9007199254740992', '-9007199254740994', '100000000000000000000'],
    ...[
      '1000000000000000000000',
      '0.1234567890123456789',
      '3.141592653589793238',
      '"1e400"',
      '["9007199254740993"]',
    ],
  ])('%s is not', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  test('a million digits are refused at once', () => {
    expect(() => parse(`{"a":${'9'.repeat(1_000_000)}}`)).toThrow(`a: ${largest}`);
  });

  test('whatever number this program writes is read', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parse(JSON.stringify({ value }))).toEqual(JSON.parse(JSON.stringify({ value })));
      }),
    );
  });
});

test('the text of a body is known as long as the body is', () => {
  const text = ' {"b": 1.0, "1": 1e2} ';
  const body = parse(text) as { b: number };
  expect(jsonTextOf(body)).toBe(text);
  expect(jsonTextOf({ ...body })).toBeUndefined();
});

describe('a number that is kept exactly', () => {
  const exactNumbers = {
    members: { quantity: true, events: { items: { members: { quantity: true } } } },
  } as const;
  const parseExact = (text: string) => parseJson(Buffer.from(text), most, { exactNumbers });

  test.each([
    ['{"quantity":1.0000000000000000001}', 'quantity'],
    ['{"quantity":1000000000000000.5}', 'quantity'],
    ['{"quantity":-12345678901234567e-20}', 'quantity'],
    ['{"events":[{"quantity":1},{"share":0.1,"quantity":0.1234567890123456}]}', 'events[1].quantity'],
  ])('is not rounded: %s', (text, field) => {
    expect(() => parseExact(text)).toThrow(`${field}: more than 15 significant digits`);
  });

  test.each([
    ['{"quantity":1.00000000000000000000}'],
    ['{"quantity":0.000000000000000000012345}'],
    ['{"quantity":100000000000000000000}'],
    ['{"quantity":123456789012.345e3}'],
    ['{"share":1.0000000000000000001,"events":[{"share":0.1234567890123456789}]}'],
  ])('keeps its value, and others may be rounded: %s', (text) => {
    expect(parseExact(text)).toEqual(JSON.parse(text));
  });
});
