import { describe, expect, it } from 'vitest';
import { onlyWhenNamed, recognise } from './index.ts';
import { found, scoreOf, valuesOf } from './testing.ts';

describe('phones', () => {
  it.each([
    ['+1 212-456-7890', undefined, '+12124567890', 0.85],
    ['+49 (0)30 901820', undefined, '+4930901820', 0.85],
    ['+442079460018', undefined, '+442079460018', 0.85],
    ['0044 20 7946 0018', undefined, '+442079460018', 0.45],
    ['(212) 456-7890', 'US', '+12124567890', 0.45],
    ['030 901820', 'DE', '+4930901820', 0.45],
  ])('%s in %s is %s', async (value, region, normalised, score) => {
    const detectors = new Set(['pii.phone']);
    const [finding, ...others] = await recognise({ text: `at ${value} 12:30.`, detectors, region });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ start: 3, end: 3 + value.length, normalised, score });
  });

  it.each([
    ['+1 000-456-7890', undefined],
    ['212-456-7890', undefined],
    ['+99 12345678', undefined],
    ['1+12124567890', undefined],
    ['+1212', undefined],
    ['2026-11-25', 'US'],
  ])('%s in %s is none', async (value, region) => {
    expect(await valuesOf('pii.phone', `at ${value}`, 0, { region })).toEqual([]);
  });
});

describe('URLs and names', () => {
  it('finds the credentials in a URL, and no address in them', async () => {
    expect(await found('see https://bob:s3cr3t@example.com/a')).toEqual([
      ['pii.url_credentials', 'bob:s3cr3t', 0.9],
    ]);
    expect(await found('see https://bob@example.com/a and http://u:password@h/')).toEqual([]);
  });

  it('finds names behind a cue, if they are asked for', async () => {
    expect(await valuesOf('pii.person_name', 'Hello, my name is Anna de la Cruz and I am 9.')).toEqual([
      'Anna de la Cruz',
    ]);
    expect(await valuesOf('pii.person_name', 'Ich heiße Jürgen Müller-Lüdenscheidt.')).toEqual([
      'Jürgen Müller-Lüdenscheidt',
    ]);
    expect(await scoreOf('pii.person_name', 'I met Mrs. Robinson')).toBe(0.4);
    expect(await scoreOf('pii.person_name', 'my name is not important')).toBeUndefined();
    expect(onlyWhenNamed).toEqual(new Set(['pii.person_name']));
  });
});
