import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSettings } from '../../lib/settings.ts';
import { settings } from './settings.ts';

const { seller, pdfFont } = settings;
const sellerOf = (text: string) => readSettings({ seller }, { PLINTH_BILLING_SELLER: text }).seller;
const fontOf = (path: string) => readSettings({ pdfFont }, { PLINTH_BILLING_PDF_FONT: path }).pdfFont;

test('the seller is what the JSON says, and the rest is empty', () => {
  expect(sellerOf('')).toEqual({ name: '', address: [], tax_id: '' });
  expect(sellerOf('{"name":"Plinth GmbH","address":["Lindenstr. 1","Berlin"],"tax_id":"DE1"}')).toEqual({
    name: 'Plinth GmbH',
    address: ['Lindenstr. 1', 'Berlin'],
    tax_id: 'DE1',
  });
});

test.each([
  '{',
  'null',
  '[]',
  '"Plinth"',
  '{"nmae":"Plinth"}',
  '{"name":7}',
  '{"name":" "}',
  '{"name":"a\\nb"}',
  '{"name":"\\ud800"}',
  '{"address":"Berlin"}',
  '{"address":[""]}',
  `{"address":${JSON.stringify(Array(9).fill('a'))}}`,
  `{"tax_id":"${'1'.repeat(201)}"}`,
])('the seller %s stops the start', (text) => {
  expect(() => sellerOf(text)).toThrow(
    'PLINTH_BILLING_SELLER must be a JSON object with no members but name, address',
  );
});

test('a font is a readable file in a format that works', () => {
  const { resolve } = createRequire(import.meta.url);
  const name = '@fontsource/noto-sans/files/noto-sans-greek-400-normal.woff';
  expect(fontOf('')).toBe('');
  expect(fontOf(resolve(name))).toBe(resolve(name));
  for (const path of [resolve(`${name}2`), '/nowhere', '/', fileURLToPath(import.meta.url)])
    expect(() => fontOf(path)).toThrow('PLINTH_BILLING_PDF_FONT must be the path of a readable font file');
});
