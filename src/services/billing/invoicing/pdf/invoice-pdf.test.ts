import { beforeAll, expect, test } from 'vitest';
import type { Invoice } from '../../../../../generated/billing/types.ts';
import { invoiceText } from './content/invoice-text.ts';
import { type Faces, loadFaces } from './fonts/faces.ts';
import { invoicePdf } from './invoice-pdf.ts';
import { PdfReader } from './testing/pdf-reader.ts';
import { sampleInvoice, sampleLine, sampleLines, sampleSeller } from './testing/samples.ts';

let faces: Faces;
beforeAll(async () => {
  faces = await loadFaces('');
});

const fileOf = (change: Partial<Invoice>, compress = false): Promise<Uint8Array> =>
  invoicePdf(invoiceText(sampleInvoice(change), sampleSeller, null), faces, {
    createdAt: new Date(0),
    compress,
  });
const read = async (change: Partial<Invoice>) => new PdfReader(await fileOf(change));
const described = (...descriptions: string[]) => ({
  line_items: descriptions.map((description, at) => sampleLine(at, 'usd', { description })),
});

test('a file says what the invoice says', async () => {
  const { text } = await read({});
  for (const line of [
    ...['Plinth Cloud GmbH', 'Lindenstraße 12', 'Acme GmbH', '10115 Berlin', 'INV-2026-000042'],
    ...[
      '$59.50 due on 17 March 2026',
      'API calls (10,001 – 10,200) 200 $0.005 $1.00',
      'VAT (19 % of $50.00) $9.50',
      '1 / 1',
    ],
  ])
    expect(text).toContain(line);
});

test('the same invoice gives the same bytes, and another one does not', async () => {
  const [first, again, other] = await Promise.all([
    fileOf({}, true),
    fileOf({}, true),
    fileOf({ number: 'INV-2026-000043' }, true),
  ]);
  expect(Buffer.from(again).equals(first)).toBe(true);
  expect(Buffer.from(other).equals(first)).toBe(false);
  // What other documents drew before leaves no trace either.
  await fileOf(described('non\u2011breaking\u00a0blanks\u2010'), true);
  expect(Buffer.from(await fileOf({}, true)).equals(first)).toBe(true);
});

test.each([
  ['umlauts', 'Größe der Übergrößenträger', 'Größe der Übergrößenträger'],
  ['Greek beside Latin', 'Χρήση του API', 'Χρήση του API'],
  ['Polish and Vietnamese', 'Łódź Nguyễn', 'Łódź Nguyễn'],
  ['Cyrillic', 'Москва', 'Москва'],
  ['Hebrew, as it is seen from the left', 'שלום API', 'API םולש'],
  ['Arabic, as it is seen from the left', 'محمد', 'دمحم'],
  ['characters without a glyph', '日本', '\ufffd\ufffd'],
  ['control characters and a lone surrogate', 'a\u0007b\ud800', 'a b\ufffd'],
])('%s', async (_what, description, shown) => {
  const { text } = await read(described(description));
  // Pieces in different fonts are separate texts, between which the reader sees no blanks.
  expect(text.replaceAll(' ', '')).toContain(shown.replaceAll(' ', ''));
});

test('no text becomes a part of the structure of the file', async () => {
  const hostile = ') Tj ET endstream endobj trailer << /Root 1 0 R >> startxref 0 %%EOF \\ (<00>';
  const harmless = 'x'.repeat(hostile.length);
  const [attacked, plain] = [await read(described(hostile)), await read(described(harmless))];
  expect(attacked.text.replaceAll(/\s+/g, ' ')).toContain('endstream endobj trailer');
  expect(attacked.count).toBe(plain.count);
  expect(
    Buffer.from(await fileOf(described(hostile)))
      .toString('latin1')
      .match(/%%EOF/g),
  ).toHaveLength(1);
});

test.each([
  ['draft', 'DRAFT'],
  ['voided', 'VOID'],
] as const)('every page of a %s invoice is marked %s', async (status, mark) => {
  const { pages } = await read({ status, line_items: sampleLines(60) });
  expect(pages.length).toBeGreaterThan(1);
  for (const page of pages) expect(page.map(({ text }) => text)).toContain(mark);
});

test('a final invoice has no mark', async () => {
  expect((await read({})).text).not.toMatch(/DRAFT|VOID/);
});

test('three pages have numbers, and 2,000 lines leave room for other work', async () => {
  const { lines } = await read({ line_items: sampleLines(70) });
  expect(lines.map((page) => page.at(-1))).toEqual(
    [1, 2, 3].map((at) => expect.stringContaining(`${at} / 3`)),
  );
  let turns = 0;
  let isDone = false;
  const count = () => void (isDone || (turns++, setImmediate(count)));
  count();
  const long = await read({ line_items: sampleLines(2_000) });
  isDone = true;
  expect(turns).toBeGreaterThan(20);
  expect(long.text.match(/API calls of part/g)).toHaveLength(2_000);
});

test.each([
  ['jpy', '-¥1,234,567'],
  ['kwd', '-KWD 1,234.567'],
])('a negative line in %s', async (currency, display) => {
  const amount = { amount: -1_234_567, currency, display };
  const credit = sampleLine(1, currency, { unit_amount: amount, unit_amount_decimal: '-1234567', amount });
  expect((await read({ currency, line_items: [credit] })).text).toContain(`${display} ${display}`);
});
