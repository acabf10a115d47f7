import type { BalanceEntry, CustomerExportLine, PaymentRefund } from '../../../../generated/billing/types.ts';
import { type BalanceEntryRow, balanceStore } from '../customers/balance.store.ts';
import { customerOf } from '../customers/customer.ts';
import type { CustomerRow } from '../customers/customers.store.ts';
import type { Deps } from '../deps.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { invoiceStore } from '../invoices/invoices.store.ts';
import { usageStore } from '../meter/events.store.ts';
import { shownEvent } from '../meter/views.ts';
import { moneyOf } from '../money/money.ts';
import { methodOf } from '../payments/methods.ts';
import { methodStore } from '../payments/methods.store.ts';
import { paymentOf } from '../payments/payment.ts';
import { paymentStore } from '../payments/payments.store.ts';
import { type ListedRefund, refundStore } from '../payments/refunds.store.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import { subscriptionStore } from '../subscriptions/subscriptions.store.ts';

/** How many records are in memory at once. */
const together = 200;

/** Everything that is stored about a customer and its tenant, one record a line, each kind oldest first. */
export async function* exported(
  { db }: Pick<Deps, 'db'>,
  customer: CustomerRow,
): AsyncIterable<CustomerExportLine> {
  const { tenant_id, app_id, id } = customer;
  const place = { tenant_id, app_id };
  yield { kind: 'customer', record: customerOf(customer) };
  for (const method of await methodStore(db.sql).list({ tenant_id, customer_id: id }))
    yield { kind: 'payment_method', record: methodOf(method) };
  for await (const row of paged((after) => subscriptionStore(db.sql).following(place, after, together)))
    yield { kind: 'subscription', record: subscriptionOf(row) };
  for await (const row of paged((after) => invoiceStore(db.sql).following(place, id, after, together)))
    yield { kind: 'invoice', record: invoiceOf(row, await invoiceStore(db.sql).lines(row)) };
  for await (const row of paged((after) => paymentStore(db.sql).following(place, id, after, together)))
    yield { kind: 'payment', record: paymentOf(row) };
  for await (const row of paged((after) => refundStore(db.sql).following(customer, after, together)))
    yield { kind: 'refund', record: refundOf(row) };
  for await (const row of paged((after) => balanceStore(db.sql).following(customer, after, together)))
    yield { kind: 'balance_entry', record: entryOf(row, customer.currency) };
  for await (const row of paged((after) => usageStore(db.sql).following(place, after, together)))
    yield { kind: 'usage_event', record: shownEvent(row) };
}

const refundOf = ({
  id,
  payment_id,
  reason,
  status,
  created_at,
  completed_at,
  ...row
}: ListedRefund): PaymentRefund => ({
  ...{
    id,
    payment_id,
    amount: moneyOf(BigInt(row.amount), row.currency),
    reason,
    status,
    created_at,
    completed_at,
  },
});

const entryOf = (row: BalanceEntryRow, currency: string): BalanceEntry => ({
  ...row,
  amount: moneyOf(BigInt(row.amount), currency),
});

/** Reads rows in batches, each after the id of the last one of the batch before. */
async function* paged<Row extends { readonly id: string }>(
  read: (after: string) => Promise<readonly Row[]>,
): AsyncIterable<Row> {
  let after = '';
  for (;;) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (rows.length < together || last === undefined) return;
    after = last.id;
  }
}
