import type { Invoice, LineItem } from '../../../../../../generated/billing/types.ts';
import { moneyOf } from '../../../money/money.ts';
import type { Seller } from '../../../settings.ts';

export const sampleSeller: Seller = {
  name: 'Plinth Cloud GmbH',
  address: ['Lindenstraße 12', '10969 Berlin', 'Germany'],
  tax_id: 'DE987654321',
};

const period = { period_start: '2026-01-15T10:00:00.000Z', period_end: '2026-02-15T10:00:00.000Z' };

/** A charge; `unit` and `amount` are minor units. */
export function sampleLine(at: number, currency: string, change: Partial<LineItem> = {}): LineItem {
  const [unit, quantity] = [BigInt((at * 37) % 500), (at * 7) % 90];
  return {
    id: `li_${String(at).padStart(26, '0')}`,
    description: `API calls of part ${at + 1} (1 – ${quantity})`,
    quantity,
    quantity_decimal: String(quantity),
    unit_amount: moneyOf(unit, currency),
    unit_amount_decimal: String(unit),
    flat_amount: moneyOf(0n, currency),
    amount: moneyOf(unit * BigInt(quantity), currency),
    type: 'usage',
    feature_key: 'api_calls',
    ...period,
    ...change,
  };
}

export const sampleLines = (count: number, currency = 'usd'): LineItem[] =>
  Array.from({ length: count }, (_, at) => sampleLine(at + 1, currency));

/** A final invoice with three charges and a tax of 19 %. */
export function sampleInvoice(change: Partial<Invoice> = {}): Invoice {
  const currency = change.currency ?? 'usd';
  const money = (amount: number) => moneyOf(BigInt(amount), currency);
  return {
    id: 'inv_01khgbwb6gfcvt5fwr9s2r6n64',
    number: 'INV-2026-000042',
    tenant_id: 'acme',
    subscription_id: 'sub_01kf0hj080fy68aq2kxr1eh230',
    customer_id: 'cus_01kf0h8v90fkrvgzcvdpyndt3q',
    status: 'pending',
    origin: 'renewal',
    currency,
    subtotal: money(5000),
    discount_amount: money(0),
    tax_amount: money(950),
    tax_status: 'complete',
    total: money(5950),
    carried_amount: money(0),
    credit_applied: money(0),
    amount_due: money(5950),
    amount_paid: money(0),
    line_items: [
      sampleLine(1, currency, {
        ...{ description: 'Pro', quantity: 1, quantity_decimal: '1' },
        ...{ unit_amount: money(4900), unit_amount_decimal: '4900', amount: money(4900) },
      }),
      sampleLine(2, currency, {
        ...{ description: 'API calls (10,001 – 10,200)', quantity: 200, quantity_decimal: '200' },
        ...{ unit_amount: money(1), unit_amount_decimal: '0.5', amount: money(100) },
      }),
    ],
    discounts: [],
    taxes: [
      {
        tax_rate_id: 'txr_01kerpxzm0f64bw8emg87ah1e8',
        name: 'VAT',
        rate: '19',
        taxable_amount: money(5000),
        amount: money(950),
      },
    ],
    bill_to: {
      name: 'Acme GmbH',
      email: 'billing@acme.example',
      billing_address: {
        ...{
          line1: 'Hauptstr. 1',
          line2: null,
          city: 'Berlin',
          state: null,
          postal_code: '10115',
          country: 'DE',
        },
      },
      tax_ids: [{ type: 'eu_vat', value: 'DE123456789' }],
    },
    ...period,
    due_date: '2026-03-17T11:00:00.000Z',
    finalized_at: '2026-02-15T11:00:00.000Z',
    paid_at: null,
    voided_at: null,
    void_reason: null,
    payment_ref: null,
    attempt_count: 0,
    next_attempt_at: null,
    app_id: 'default',
    metadata: {},
    created_at: '2026-02-15T10:00:02.000Z',
    updated_at: '2026-02-15T11:00:00.000Z',
    ...change,
  };
}
