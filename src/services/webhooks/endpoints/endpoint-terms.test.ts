import { describe, expect, it, test } from 'vitest';
import { storedTerms } from './endpoint-terms.ts';

const judge = () => undefined;

describe('the stored form', () => {
  it('has one spelling for one meaning', () => {
    const given = {
      url: 'HTTPS://A.example:443/b/../c',
      event_types: ['b', 'a', 'b'],
      channels: ['x', 'x'],
      timeout: '1500ms',
    };
    expect(storedTerms(given, judge)).toEqual({
      url: 'https://a.example/c',
      event_types: ['b', 'a'],
      channels: ['x'],
      timeout_ms: 1_500,
    });
  });

  it('leaves out what is absent, and what is stored elsewhere', () => {
    expect(storedTerms({}, judge)).toEqual({});
    expect(storedTerms({ headers: { a: 'b' }, enabled: false, uid: null }, judge)).toEqual({ uid: null });
  });
});

test.each([
  ['url: not here', { url: 'https://a.example' }, () => 'not here'],
  [
    'url: its normal form has more than 2048 characters',
    { url: `https://a.example/${'ü'.repeat(400)}` },
    judge,
  ],
  ['timeout: must be from 1s to 30s', { timeout: '999ms' }, judge],
  ['timeout: must be from 1s to 30s', { timeout: '30.001s' }, judge],
  ['timeout: must be a duration', { timeout: 'soon' }, judge],
  ['metadata: at most 5 levels', { metadata: { a: [[[[[]]]]] } }, judge],
  ['metadata: at most 8192 bytes', { metadata: { a: 'ä'.repeat(4_096) } }, judge],
  ['metadata: keys must have 1 to 64 characters', { metadata: { ['k'.repeat(65)]: 1 } }, judge],
])('%s', (message, given, judged) => {
  expect(() => storedTerms(given, judged)).toThrow(message);
});
