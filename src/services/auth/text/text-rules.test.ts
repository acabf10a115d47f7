import { describe, expect, it } from 'vitest';
import { checkMetadata, cleanEmail, cleanName, cleanPhone, cleanText } from './text-rules.ts';

describe('text', () => {
  it('is trimmed and NFC', () => {
    expect(cleanText('name', ' Cafe\u0301 ')).toBe('Caf\u00e9');
    expect(cleanName('name', '  ')).toBeNull();
    expect(cleanName('name', null)).toBeNull();
    expect(cleanEmail('Ada@Example.COM')).toBe('ada@example.com');
  });

  it.each([
    ['a\nb', 'name: must not contain control characters'],
    ['a\u0000', 'name: must not contain control characters'],
    ['a\u0085b', 'name: must not contain control characters'],
    ['a\u202eb', 'name: must not contain the invisible character U+202E'],
    ['a\u200bb', 'name: must not contain the invisible character U+200B'],
    ['\u2800', 'name: must not be blank'],
    ['a\ud800', 'name: must not contain a lone surrogate'],
    ['\u0958\u0958\u0958', 'name: must have at most 5 characters'],
  ])('%j is refused', (text, error) => {
    expect(() => cleanText('name', text, 5)).toThrow(error);
  });

  it('a phone number is one that exists, in E.164 form', () => {
    expect(cleanPhone('+4930901820')).toBe('+4930901820');
    for (const wrong of ['030901820', '+49 30 901820', '+1', '+999999999999', '+49309018201234567'])
      expect(() => cleanPhone(wrong)).toThrow('phone: must be a valid number');
  });
});

describe('metadata', () => {
  const nested = (levels: number): Record<string, unknown> => (levels === 0 ? {} : { a: nested(levels - 1) });
  it('has so many members, levels and bytes', () => {
    checkMetadata(Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`m${n}`, n])));
    checkMetadata(nested(4));
    checkMetadata({ a: 'x'.repeat(16 * 1024 - 8) });
    expect(() =>
      checkMetadata(Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`m${n}`, n]))),
    ).toThrow('metadata: at most 64 members');
    expect(() => checkMetadata(nested(5))).toThrow('metadata: at most 5 levels');
    expect(() => checkMetadata({ a: 'x'.repeat(16 * 1024 - 7) })).toThrow('metadata: at most 16384 bytes');
    expect(() => checkMetadata({ a: 'é'.repeat(8_200) })).toThrow('metadata: at most 16384 bytes');
  });
});
