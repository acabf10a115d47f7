import type { BillTo, Invoice, LineItem } from '../../../../../../generated/billing/types.ts';
import { moneyText } from '../../../money/money.ts';
import type { Seller } from '../../../settings.ts';
import { deducted, difference, priceText, quantityText } from './amounts.ts';
import { dayOf, periodOf } from './days.ts';
import { billedParty, type Party, sellerParty } from './parties.ts';
import { headlineOf, standingOf, type Headline, type Standing } from './standing.ts';

/** A line of the table of charges. */
export interface ChargeText {
  readonly description: string;
  /** What else a reader needs to check the amount. */
  readonly details: readonly string[];
  readonly quantity: string;
  readonly price: string;
  readonly amount: string;
}

/** A line below the table. */
export interface SumText {
  readonly label: string;
  readonly amount: string;
  readonly isStrong: boolean;
}

/** Everything that an invoice says, in the order in which it says it, without a thought of where that goes. */
export interface InvoiceText {
  /** Null for a draft. */
  readonly number: string | null;
  readonly seller: Party;
  readonly billTo: Party | null;
  readonly standing: Standing;
  readonly headline: Headline;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly charges: readonly ChargeText[];
  readonly sums: readonly SumText[];
  readonly notes: readonly string[];
}

/**
 * The texts of an invoice.
 * @param payer who would be billed, which a draft shows because it does not say so itself
 */
export function invoiceText(invoice: Invoice, seller: Seller, payer: BillTo | null): InvoiceText {
  const billTo = invoice.bill_to ?? (invoice.status === 'draft' ? payer : null);
  return {
    number: invoice.number,
    seller: sellerParty(seller),
    billTo: billTo === null ? null : billedParty(billTo),
    standing: standingOf(invoice),
    headline: headlineOf(invoice),
    facts: factsOf(invoice),
    charges: invoice.line_items.map((line) => chargeOf(line, invoice)),
    sums: sumsOf(invoice),
    notes: notesOf(invoice),
  };
}

/** The texts that others wrote, which can be in any script. The names of the parties are also shown in bold. */
export function* foreignTexts({
  seller,
  billTo,
  facts,
  charges,
  sums,
  notes,
}: InvoiceText): Generator<string> {
  for (const party of [seller, billTo]) if (party !== null) yield* [party.name, ...party.lines];
  for (const [, value] of facts) yield value;
  for (const { description } of charges) yield description;
  for (const { label } of sums) yield label;
  yield* notes;
}

function factsOf(invoice: Invoice): [string, string][] {
  const { number, created_at, finalized_at, due_date, paid_at, voided_at } = invoice;
  const dates: [string, string | null][] = [
    ['Drafted', finalized_at === null ? created_at : null],
    ['Issued', finalized_at],
    ['Due', due_date],
    ['Paid', paid_at],
    ['Voided', voided_at],
  ];
  return [
    ...(number === null ? [] : [['Invoice number', number] as [string, string]]),
    ...dates.flatMap(([label, at]) => (at === null ? [] : [[label, dayOf(at)] as [string, string]])),
    ['Billing period', periodOf(invoice)],
    ['Account', invoice.tenant_id],
    ['Currency', invoice.currency.toUpperCase()],
  ];
}

function chargeOf(line: LineItem, invoice: Invoice): ChargeText {
  const { description, flat_amount, period_start, period_end } = line;
  const isOfAnotherPeriod = period_start !== invoice.period_start || period_end !== invoice.period_end;
  // Descriptions of parts of periods name their days themselves.
  const namesItsDays = description.includes(`${period_start.slice(0, 10)} – ${period_end.slice(0, 10)}`);
  return {
    description,
    details: [
      ...(isOfAnotherPeriod && !namesItsDays ? [periodOf(line)] : []),
      ...(flat_amount.amount === 0 ? [] : [`plus a flat ${flat_amount.display}`]),
    ],
    quantity: quantityText(line.quantity_decimal),
    price: priceText(line.unit_amount, line.unit_amount_decimal),
    amount: line.amount.display,
  };
}

function sumsOf(invoice: Invoice): SumText[] {
  const {
    subtotal,
    discounts,
    taxes,
    total,
    credit_applied,
    carried_amount,
    amount_due,
    amount_paid,
    currency,
    status,
  } = invoice;
  const open = difference(amount_due, amount_paid);
  const isDue = status !== 'voided' && total.amount >= 0;
  return [
    sum('Subtotal', subtotal.display),
    ...discounts.map(({ code, amount }) => sum(`Discount ${code}`, deducted(amount))),
    ...taxes.map(({ name, rate, taxable_amount, amount }) =>
      sum(`${name} (${rate} % of ${taxable_amount.display})`, amount.display),
    ),
    sum('Total', total.display, true),
    ...(credit_applied.amount === 0 ? [] : [sum('Credit applied', deducted(credit_applied))]),
    ...(carried_amount.amount > 0 ? [sum('Left by earlier invoices', carried_amount.display)] : []),
    ...(carried_amount.amount < 0 ? [sum('Left to the next invoice', carried_amount.display)] : []),
    ...(isDue ? [sum('Amount due', amount_due.display, true)] : []),
    ...(amount_paid.amount === 0 ? [] : [sum('Paid', deducted(amount_paid))]),
    ...(isDue && amount_paid.amount !== 0 ? [sum('Still to pay', moneyText(open, currency), true)] : []),
  ];
}

const sum = (label: string, amount: string, isStrong = false): SumText => ({ label, amount, isStrong });

function notesOf({ status, tax_status, void_reason, payment_ref, total, finalized_at }: Invoice): string[] {
  const isCredit = total.amount < 0 && finalized_at !== null && status !== 'voided';
  return [
    ...(tax_status === 'incomplete_address'
      ? ['No tax was computed: the country of the customer is not known.']
      : []),
    ...(isCredit ? [`${deducted(total)} were added to the credit of the account.`] : []),
    ...(payment_ref === null ? [] : [`Reference of the payment: ${payment_ref}`]),
    ...(void_reason === null ? [] : [`Reason for voiding: ${void_reason}`]),
  ];
}
