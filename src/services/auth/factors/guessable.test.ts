import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guessableBecause } from './guessable.ts';

const known = ['ada.lovelace@example.com', 'ada lovelace', 'lovelace', 'analytical engines', 'engines'];

it.each<[password: string, weakness: string | undefined]>([
  ['iloveyou123', 'is too common'],
  ['Passw0rd!', 'is too common'],
  ['PassWord123', 'is too common'],
  ['P@ssw0rd2026', 'is too common'],
  ['        ', 'repeats itself'],
  ['x'.repeat(256), 'repeats itself'],
  ['abcabcabcabc', 'repeats itself'],
  ['abcdefghijk', 'is a sequence'],
  ['19841231', 'is a year or a date'],
  ['ada lovelace!', 'is close to the email, the name or the app'],
  ['Engines1', 'is close to the email, the name or the app'],
  ['constructor', 'is too easy to guess'],
  ['seven brass wheels', undefined],
  ['correct horse battery staple', undefined],
  ['пароль-и-ключ', undefined],
  ['x7Kp2mQ9', undefined],
  ['🦊🐢🦉🐙🦀🐝🦄🐺', undefined],
])('%s: %s', (password, weakness) => {
  expect(guessableBecause(password, known)).toBe(weakness);
});

describe('whatever is sent', () => {
  it('is measured', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 256 });
    const wild = fc.constantFrom(
      '__proto__',
      'hasOwnProperty',
      'toString!',
      '\ud800'.repeat(9),
      '\u0000'.repeat(8),
    );
    fc.assert(
      fc.property(
        fc.oneof(text, wild),
        fc.array(fc.oneof(text, wild), { maxLength: 5 }),
        (password, words) => {
          expect(typeof guessableBecause(password, words)).toMatch(/^(undefined|string)$/);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([
    ['4@8({[<36|!1i#9%0$5+7'.repeat(13).slice(0, 256)],
    ['4@4@4@!1!1|'.repeat(23)],
    ['0123456789'.repeat(25)],
    ['vv\\/\\/|-|()'.repeat(23)],
    ['aabaabaacaabaabaac'.repeat(14)],
  ])('takes no long time, and %s was made to', (password) => {
    guessableBecause(password, known);
    const before = process.cpuUsage();
    guessableBecause(password, known);
    // Processor time, which other load does not lengthen: about 30 ms, but seconds without the bounds.
    expect(process.cpuUsage(before).user).toBeLessThan(300_000);
  });
});
