import { expect, test } from 'vitest';
import { moneyOf } from '../../../money/money.ts';
import { sampleInvoice, sampleLine, sampleSeller } from '../testing/samples.ts';
import { foreignTexts, invoiceText } from './invoice-text.ts';

const of = (change: Parameters<typeof sampleInvoice>[0]) =>
  invoiceText(sampleInvoice(change), sampleSeller, null);
const usd = (amount: number) => moneyOf(BigInt(amount), 'usd');
const sums = (change: Parameters<typeof sampleInvoice>[0]) =>
  of(change).sums.map(({ label, amount }) => [label, amount]);

test.each([
  [{}, 'Open', null, ['$59.50', 'due on 17 March 2026']],
  [{ amount_paid: usd(950) }, 'Open', null, ['$50.00', 'due on 17 March 2026']],
  [{ status: 'draft', due_date: null }, 'Draft', 'DRAFT', ['$59.50', 'draft: not final yet']],
  [
    { status: 'paid', paid_at: '2026-02-18T08:15:00.000Z', amount_paid: usd(5950) },
    ...(['Paid', null, ['$59.50', 'paid on 18 February 2026']] as const),
  ],
  [{ status: 'past_due' }, 'Past due', null, ['$59.50', 'was due on 17 March 2026']],
  [
    { status: 'voided', voided_at: '2026-02-16T23:59:59.999Z' },
    ...(['Void', 'VOID', ['$59.50', 'void since 16 February 2026: nothing to pay']] as const),
  ],
  [{ total: usd(-100), amount_due: usd(0) }, 'Open', null, ['-$1.00', 'credit: nothing to pay']],
] as const)('of %j', (change, word, mark, [amount, remark]) => {
  const { standing, headline } = of(change);
  expect(standing).toMatchObject({ word, mark });
  expect(headline).toEqual({ amount, remark });
});

test('a price with decimals of a minor unit, a flat amount and another period can be checked by the reader', () => {
  const line = sampleLine(1, 'usd', {
    ...{ quantity_decimal: '1234567.5', unit_amount: usd(0), unit_amount_decimal: '-0.000000000001' },
    ...{ flat_amount: usd(1000), amount: usd(1000), period_start: '2025-12-15T10:00:00.000Z' },
  });
  expect(of({ line_items: [line] }).charges).toEqual([
    {
      description: line.description,
      details: ['15 Dec 2025 – 15 Feb 2026', 'plus a flat $10.00'],
      quantity: '1,234,567.5',
      price: '-$0.00000000000001',
      amount: '$10.00',
    },
  ]);
  const named = { ...line, description: 'Pro (2025-12-15 – 2026-02-15)', flat_amount: usd(0) };
  expect(of({ line_items: [named] }).charges[0]!.details).toEqual([]);
});

test.each([
  ['jpy', '¥4,900', '¥0.5'],
  ['kwd', 'KWD 4.900', 'KWD 0.0005'],
])('amounts in %s have its decimals', (currency, base, call) => {
  const { charges } = of({ currency, ...{} });
  expect(charges.map(({ price }) => price)).toEqual([base, call]);
});

test('discounts, taxes and credit are sums of their own, and what is deducted is negative', () => {
  const tax = {
    tax_rate_id: 'txr_1',
    name: 'MwSt.',
    rate: '7.5',
    taxable_amount: usd(4500),
    amount: usd(-338),
  };
  const discounts = [{ coupon_id: 'cpn_1', code: 'SUMMER25', amount: usd(500) }];
  expect(sums({ discounts, taxes: [tax], credit_applied: usd(100), amount_paid: usd(50) })).toEqual([
    ['Subtotal', '$50.00'],
    ['Discount SUMMER25', '-$5.00'],
    ['MwSt. (7.5 % of $45.00)', '-$3.38'],
    ['Total', '$59.50'],
    ['Credit applied', '-$1.00'],
    ['Amount due', '$59.50'],
    ['Paid', '-$0.50'],
    ['Still to pay', '$59.00'],
  ]);
});

test('nothing is due of a void invoice and of a credit', () => {
  const labels = (change: Parameters<typeof sampleInvoice>[0]) => sums(change).map(([label]) => label);
  expect(labels({ status: 'voided' })).not.toContain('Amount due');
  expect(labels({ total: usd(-100) })).not.toContain('Amount due');
  expect(of({ total: usd(-100) }).notes).toEqual(['$1.00 were added to the credit of the account.']);
});

test('an invoice without the tax that it should have says so', () => {
  expect(of({ tax_status: 'incomplete_address' }).notes).toEqual([
    'No tax was computed: the country of the customer is not known.',
  ]);
});

test('a draft shows who would be billed, and a final invoice only who was', () => {
  const payer = { name: 'Now', email: 'now@acme.example', billing_address: null, tax_ids: [] };
  const billed = (status: 'draft' | 'pending' | 'voided', own: typeof payer | null) =>
    invoiceText(sampleInvoice({ status, bill_to: own }), sampleSeller, payer).billTo?.name;
  expect(billed('draft', null)).toBe('Now');
  expect(billed('pending', { ...payer, name: 'Then' })).toBe('Then');
  expect(billed('pending', null)).toBeUndefined();
  expect(billed('voided', null)).toBeUndefined();
});

test('the billed party has its address as people write it, without what is missing', () => {
  expect(of({}).billTo).toEqual({
    name: 'Acme GmbH',
    lines: ['Hauptstr. 1', '10115 Berlin', 'Germany', 'billing@acme.example', 'EU VAT DE123456789'],
  });
});

test('the texts of others are all found', () => {
  const found = [...foreignTexts(of({ payment_ref: 'transfer 7' }))];
  for (const text of [
    'Plinth Cloud GmbH',
    'Hauptstr. 1',
    'acme',
    'Pro',
    'VAT (19 % of $50.00)',
    'Reference of the payment: transfer 7',
  ])
    expect(found).toContain(text);
});
