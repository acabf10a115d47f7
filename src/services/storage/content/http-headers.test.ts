import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attachment, httpDate, parseHttpDate } from './http-headers.ts';
import { checkMetadata, metadataHeaders } from './metadata.ts';

/** The strings of fast-check are of few characters, or take seconds to begin. */
const anyText = fc
  .array(fc.oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff })), {
    maxLength: 250,
  })
  .map((points) => String.fromCodePoint(...points));

const moment = new Date('1994-11-06T08:49:37Z');

describe('dates in headers', () => {
  test('are written in one format', () => expect(httpDate(moment)).toBe('Sun, 06 Nov 1994 08:49:37 GMT'));

  test.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    ' Sun, 06 Nov 1994 08:49:37 GMT ',
  ])('are read in three formats: %s', (text) => expect(parseHttpDate(text)).toEqual(moment));

  test.each([
    '',
    'now',
    '0',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nox 1994 08:49:37 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ])('anything else is none: %s', (text) => expect(parseHttpDate(text)).toBeUndefined());

  test('two digits of a year mean the nearest past or the near future', () => {
    const year = new Date().getUTCFullYear();
    const yearOf = (full: number) =>
      parseHttpDate(`Sunday, 06-Nov-${String(full % 100).padStart(2, '0')} 08:49:37 GMT`)?.getUTCFullYear();
    expect([yearOf(year), yearOf(year + 10), yearOf(year - 40)]).toEqual([year, year + 10, year - 40]);
  });

  test('there is no year 0', () => expect(parseHttpDate('Sat, 01 Jan 0000 00:00:00 GMT')).toBeUndefined());

  test('every second survives', () => {
    const date = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(date, (time) => {
        const whole = new Date(Math.floor(time.getTime() / 1000) * 1000);
        expect(parseHttpDate(httpDate(time))).toEqual(whole);
      }),
    );
  });
});

describe('the name of a download', () => {
  test.each([
    ['cat.jpg', 'attachment; filename="cat.jpg"'],
    ['my cat (1).jpg', 'attachment; filename="my cat (1).jpg"'],
    ['März.pdf', 'attachment; filename="M_rz.pdf"; filename*=UTF-8\'\'M%C3%A4rz.pdf'],
    ['🐈', 'attachment; filename="_"; filename*=UTF-8\'\'%F0%9F%90%88'],
    ['a"b\\c', 'attachment; filename="a_b_c"; filename*=UTF-8\'\'a%22b%5Cc'],
    [
      'a\r\nSet-Cookie: b',
      'attachment; filename="a__Set-Cookie_ b"; filename*=UTF-8\'\'a%0D%0ASet-Cookie%3A%20b',
    ],
    ['50%41', 'attachment; filename="50_41"; filename*=UTF-8\'\'50%2541'],
    ['\ud800', 'attachment; filename="_"; filename*=UTF-8\'\'%EF%BF%BD'],
  ])('%j', (name, header) => expect(attachment(name)).toBe(header));

  test('cannot end the header or its quotes', () => {
    fc.assert(
      fc.property(anyText, (name) => {
        expect(attachment(name)).toMatch(
          /^attachment; filename="[ -!#-[\]-~]*"(; filename\*=UTF-8''[!-:<-~]*)?$/,
        );
      }),
    );
  });
});

describe('metadata', () => {
  test.each<[Record<string, string>, string]>([
    [{ Camera: 'a' }, 'names must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or a digit'],
    [{ _a: 'a' }, 'names must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or a digit'],
    [{ ['a'.repeat(65)]: 'a' }, 'names must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or a digit'],
    [{ a: 'ä'.repeat(4096) }, 'must have at most 8192 bytes together'],
  ])('refused: %j', (metadata, problem) =>
    expect(() => checkMetadata(metadata)).toThrow(`metadata: ${problem}`),
  );

  test('accepted up to its bounds', () =>
    expect(() => checkMetadata({ ['a'.repeat(64)]: '', b: 'ä'.repeat(4063) })).not.toThrow());

  test('survives in headers', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const sent = metadataHeaders({ a: value })['X-Store-Meta-a']!;
        expect(sent).toMatch(/^([!-~]([ -~]*[!-~])?)?$/);
        const encoded = /^utf-8''(.*)$/i.exec(sent)?.[1];
        expect(encoded === undefined ? sent : decodeURIComponent(encoded)).toBe(value);
      }),
    );
  });
});
