import { expect, test } from 'vitest';
import { invoiceText } from '../content/invoice-text.ts';
import { sampleInvoice, sampleLine, sampleLines, sampleSeller } from '../testing/samples.ts';
import { layOut } from './layout.ts';
import { type Item, type Measure, type Page, sheet } from './page.ts';

/** Every character is as wide as in a usual font. */
const measure: Measure = (line, { size }) => [...line].length * size * 0.55;
const pagesOf = (change: Parameters<typeof sampleInvoice>[0]) =>
  layOut(invoiceText(sampleInvoice(change), sampleSeller, null), measure, () => undefined);
const texts = ({ items }: Page) => items.flatMap((item) => (item.kind === 'text' ? [item.text] : []));
const edges = (item: Item): [x: number, right: number, y: number] => {
  if (item.kind === 'text') return [item.x, item.x + measure(item.text, item.style), item.baseline];
  return item.kind === 'rule'
    ? [item.from, item.to, item.y]
    : [item.x, item.x + item.width, item.y + item.height];
};

/** Whether all of it is on the sheet and above the end of the footer. */
function expectInside(pages: readonly Page[]): void {
  for (const [x, right, y] of pages.flatMap(({ items }) => items.map(edges))) {
    expect(x).toBeGreaterThanOrEqual(sheet.left - 0.01);
    expect(right).toBeLessThanOrEqual(sheet.right + 0.01);
    expect(y).toBeLessThanOrEqual(sheet.bottom + 28);
  }
}

test.each([0, 1, 20, 60, 2_000])(
  '%i lines have a table head on every page, page numbers, and one place each',
  async (count) => {
    const pages = await pagesOf({ line_items: sampleLines(count) });
    expect(pages.length).toBeGreaterThanOrEqual(count / 40);
    expect(pages.map((page) => texts(page).filter((text) => text === 'DESCRIPTION').length)).toEqual(
      pages.map(() => 1),
    );
    expect(pages.map((page) => texts(page).at(-1))).toEqual(
      pages.map((_, at) => `${at + 1} / ${pages.length}`),
    );
    const descriptions = pages.flatMap(texts).filter((text) => text.startsWith('API calls of part'));
    expect(descriptions).toEqual(sampleLines(count).map(({ description }) => description));
    expectInside(pages);
  },
);

test('the sums are on the page of the last line', async () => {
  for (let count = 15; count < 40; count++) {
    const last = texts((await pagesOf({ line_items: sampleLines(count) })).at(-1)!);
    expect(last).toContain(sampleLines(count).at(-1)!.description);
    expect(last).toEqual(expect.arrayContaining(['Subtotal', 'Amount due']));
  }
});

test('an invoice without lines says so', async () => {
  expect(texts((await pagesOf({ line_items: [] }))[0]!)).toContain('Nothing to bill');
});

test('the longest texts and the largest amounts stay on the sheet', async () => {
  const long = (length: number) => 'W'.repeat(length);
  const most = { amount: -Number.MAX_SAFE_INTEGER, currency: 'usd', display: '-$90,071,992,547,409.91' };
  const line = sampleLine(1, 'usd', {
    ...{ description: long(500), quantity_decimal: '-1000000000000000.123456789012', flat_amount: most },
    ...{ unit_amount: most, unit_amount_decimal: '-9007199254740991.123456789012', amount: most },
  });
  const pages = await pagesOf({
    ...{ line_items: [line, line], subtotal: most, total: most, amount_due: most, tenant_id: long(128) },
    bill_to: {
      ...{ name: long(200), email: long(254) },
      billing_address: {
        ...{ line1: long(200), line2: long(200), city: long(200), state: long(200), postal_code: long(200) },
        country: 'US',
      },
      tax_ids: Array.from({ length: 10 }, () => ({ type: long(32), value: long(64) })),
    },
    discounts: Array.from({ length: 10 }, () => ({ coupon_id: 'cpn_1', code: long(64), amount: most })),
    taxes: Array.from({ length: 10 }, () => ({
      ...{ tax_rate_id: 'txr_1', name: long(255), rate: '19', taxable_amount: most, amount: most },
    })),
    ...{ void_reason: long(500), payment_ref: long(255) },
  });
  expectInside(pages);
});
