import { Big } from 'big.js';
import type { Invoice, LineItem, UpcomingInvoice } from '../../../../generated/billing/types.ts';
import { minorUnits, moneyOf } from '../money/money.ts';
import { shownQuantity } from '../money/quantities.ts';
import type { Computed } from './account.ts';
import type { InvoiceFigures, InvoiceRow, LineRow } from './invoices.store.ts';
import type { Line } from './lines.ts';
import { storedDiscount, storedReturn, storedTax } from './returns.ts';

/** The most digits of a unit price in the contract; a price with more is shown as rounded there. */
const mostDecimals = 12;

/** An invoice as responses show it; lists and events leave its lines out. */
export function invoiceOf(
  {
    auto_finalize_at: _auto,
    set_off_amount: _setOff,
    returns: _returns,
    discounts,
    taxes,
    ...row
  }: InvoiceRow,
  lines: readonly LineRow[],
): Invoice {
  const money = (amount: number) => moneyOf(BigInt(amount), row.currency);
  return {
    ...row,
    subtotal: money(row.subtotal),
    discount_amount: money(row.discount_amount),
    tax_amount: money(row.tax_amount),
    total: money(row.total),
    credit_applied: money(row.credit_applied),
    carried_amount: money(row.carried_amount),
    amount_due: money(row.amount_due),
    amount_paid: money(row.amount_paid),
    line_items: lines.map((line) => lineItemOf(line, row.currency)),
    discounts: discounts.map((discount) => ({ ...discount, amount: money(discount.amount) })),
    taxes: taxes.map((tax) => ({
      ...tax,
      taxable_amount: money(tax.taxable_amount),
      amount: money(tax.amount),
    })),
  };
}

/** An invoice without its id and number, which only stored ones have. */
export function upcomingOf(row: InvoiceRow, lines: readonly LineRow[]): UpcomingInvoice {
  const { id: _id, number: _number, ...shown } = invoiceOf(row, lines);
  return shown;
}

function lineItemOf(line: LineRow, currency: string): LineItem {
  const [quantity, unit] = [new Big(line.quantity), new Big(line.unit)];
  return {
    id: line.id,
    description: line.description,
    quantity: shownQuantity(quantity),
    quantity_decimal: quantity.toFixed(),
    unit_amount: moneyOf(minorUnits(unit), currency),
    unit_amount_decimal: unit.round(mostDecimals).toFixed(),
    flat_amount: moneyOf(BigInt(line.flat), currency),
    amount: moneyOf(BigInt(line.amount), currency),
    type: line.type,
    feature_key: line.feature_key === '' ? null : line.feature_key,
    period_start: line.period_start,
    period_end: line.period_end,
  };
}

/** A line that was just computed, as it would be stored. */
export const lineRowOf = (line: Line, id: string): LineRow => ({
  id,
  type: line.type,
  description: line.description,
  quantity: line.quantity.toFixed(),
  unit: line.unit.toFixed(),
  flat: Number(line.flat),
  amount: Number(line.amount),
  period_start: new Date(line.period.start).toISOString(),
  period_end: new Date(line.period.end).toISOString(),
  group_period: new Date(line.key.periodStart).toISOString(),
  group_plan_id: line.key.planId,
  group_revision: line.key.revision,
  feature_key: line.key.featureKey ?? '',
});

/** The computed members of an invoice, as they are stored. */
export const storedFigures = ({
  figures,
  payer,
  returns,
}: Pick<Computed, 'figures' | 'payer' | 'returns'>): InvoiceFigures => ({
  customer_id: payer?.id ?? null,
  subtotal: Number(figures.subtotal),
  discount_amount: Number(figures.discountAmount),
  tax_amount: Number(figures.taxAmount),
  tax_status: figures.taxStatus,
  total: Number(figures.total),
  credit_applied: Number(figures.creditApplied),
  carried_amount: 0,
  amount_due: Number(figures.amountDue),
  discounts: figures.discounts.map(storedDiscount),
  taxes: figures.taxes.map(storedTax),
  returns: returns.map(storedReturn),
});
