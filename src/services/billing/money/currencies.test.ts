import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { currencies, currencyFacts } from './currencies.ts';

const withDigits = (digits: number) =>
  [...currencies].filter(([, facts]) => facts.digits === digits).map(([code]) => code);

it('currencies have the minor units of ISO 4217, and all that are not listed here have two digits', () => {
  expect(withDigits(0).join(' ')).toBe('bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf');
  expect(withDigits(3).join(' ')).toBe('bhd iqd jod kwd lyd omr tnd');
  expect(withDigits(4).join(' ')).toBe('clf uyw');
  expect([...currencies.values()].filter(({ digits }) => ![0, 2, 3, 4].includes(digits))).toEqual([]);
  expect(withDigits(2)).toHaveLength(140);
  expect(currencies.size).toBe(166);
});

it('the currencies that a runtime shows without decimals have them', () => {
  for (const code of ['huf', 'idr', 'cop', 'pkr', 'all', 'lbp', 'mmk', 'mga', 'irr', 'yer', 'afn'])
    expect(currencyFacts(code).digits).toBe(2);
  expect(currencyFacts('iqd').digits).toBe(3);
});

it('every currency has the form of a code of the contract, is shown unlike all others, and cannot be changed', async () => {
  const labels = new Set<string>();
  for (const [code, facts] of currencies) {
    expect(code).toMatch(/^[a-z]{3}$/);
    expect(Object.isFrozen(facts)).toBe(true);
    labels.add(facts.label);
  }
  expect(labels.size).toBe(currencies.size);
});

it('a currency that is known no more is shown by its code, with two digits', () => {
  expect(currencyFacts('dem')).toEqual({ digits: 2, label: 'DEM ' });
});

it('no amount is written by what the runtime knows of currencies', async () => {
  for (const file of ['./money.ts', './currencies.ts', '../invoicing/pdf/content/amounts.ts'])
    expect(await readFile(new URL(file, import.meta.url), 'utf8')).not.toMatch(
      /style: 'currency'|supportedValuesOf/,
    );
});
