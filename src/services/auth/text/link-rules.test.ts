import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseLink, withoutLinks } from './link-rules.ts';

describe('a name', () => {
  it.each([
    'https://evil.example/login',
    'Win: HTTP://1.2.3.4',
    'Go to evil.com now',
    'evil.com',
    'www.evil',
    'Prize at bücher.example!',
    'пример.рф',
    'evil.xn--p1ai',
    'evil。com',
    'evil．com/x',
    'ftp:\\\\evil',
    'mail me@evil.org',
  ])('%s is a link', (name) => {
    expect(() => refuseLink('name', name)).toThrow('name: must not contain a link');
    expect(() => refuseLink('name', withoutLinks(name))).not.toThrow();
  });

  it.each([
    'Analytical Engines',
    'J.R.R. Tolkien',
    'St. John Ambulance',
    'Acme, Inc.',
    'Version 2.0',
    'A/B: testing…',
    '9:30 Club',
    '株式会社ネットワーク',
  ])('%s is none', (name) => {
    expect(refuseLink('name', name)).toBe(name);
  });

  it('is never a link after it was made harmless', () => {
    const words = fc.constantFrom(
      'evil',
      'com',
      '.',
      '。',
      '://',
      'www',
      ' ',
      '/',
      '@',
      'é',
      '1',
      'xn--a',
      ':',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
        const name = withoutLinks(parts.join(''));
        expect(() => refuseLink('name', name)).not.toThrow();
        expect(withoutLinks(name)).toBe(name);
      }),
    );
  });
});
