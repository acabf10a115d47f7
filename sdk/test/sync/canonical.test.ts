import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, canonical, compareBytes, NotCanonical } from '../../src/sync/canonical.ts';
import { base64url, sha256 } from '../../src/sync/sha256.ts';

const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

describe('canonical JSON', () => {
  it.each<[unknown, string]>([
    // The examples of RFC 8785, sections 3.2.2 and 3.2.3.
    [
      { numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001] },
      '{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}',
    ],
    [{ string: '€$\u000f\nA\'B"\\\\"/' }, '{"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'],
    [{ literals: [null, true, false] }, '{"literals":[null,true,false]}'],
    [
      {
        '€': 'Euro Sign',
        '\r': 'Carriage Return',
        '\ufb33': 'Hebrew Letter Dalet With Dagesh',
        '1': 'One',
        '😀': 'Emoji: Grinning Face',
        '\u0080': 'Control',
        ö: 'Latin Small Letter O With Diaeresis',
      },
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
        '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
    // Of its table of numbers.
    [-0, '0'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [1e21, '1e+21'],
    [1e23, '1e+23'],
    [0.000001, '0.000001'],
    // What JSON can hold and programs trip over.
    [JSON.parse('{"__proto__":1,"a":{}}'), '{"__proto__":1,"a":{}}'],
    ['\0', '"\\u0000"'],
    [1.0, '1'],
    [{}, '{}'],
  ])('of %j is %s', (value, expected) => expect(canonical(value)).toBe(expected));

  it.each<[string, unknown]>([
    ['finite', Number.NaN],
    ['finite', [-Infinity]],
    ['surrogates', '\ud800'],
    ['surrogates', { 'a\udc00b': 1 }],
    ['surrogates', ['😀\ude00']],
    ['JSON', undefined],
    ['JSON', [() => 1]],
    ['JSON', new Array(1)],
    ['JSON', { a: 1n }],
    ['plain', new Date(0)],
    ['plain', new Map()],
    ['60 levels', nested(61)],
  ])('says %j about %o', (problem, value) => {
    expect(() => canonical(value)).toThrow(NotCanonical);
    expect(() => canonical(value)).toThrow(problem);
  });

  it('has up to 60 levels, and is measured in bytes', () => {
    expect(canonical(nested(60))).toHaveLength(120);
    expect(canonical('é'.repeat(3), 8)).toBe('"ééé"');
    expect(() => canonical('é'.repeat(3), 7)).toThrow('at most 7 bytes');
    expect(() => canonical('aaaaaa', 7)).toThrow('at most 7 bytes');
  });

  it('is the same for equal values, and reads as the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }), (value) => {
        const text = canonical(value);
        expect(canonical(JSON.parse(text))).toBe(text);
        expect(canonical(JSON.parse(JSON.stringify(value, null, 1)))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('compares by bytes', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '\u07ff', '\uffff', '😀', '\ue000', 'é', '"') });
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(byteLength(a)).toBe(Buffer.byteLength(a));
      }),
    );
  });
});

describe('the hash of an element', () => {
  it('is SHA-256 in base64url', () => {
    expect(base64url(sha256('"urgent"'))).toBe('dGazn82mjia4ZpTSv4X1oKsYmy8mZ12jA6Cz-6uhnO0');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(base64url(sha256(text))).toBe(createHash('sha256').update(text).digest('base64url'));
      }),
      { numRuns: 300 },
    );
  });
});
