import type { Voiding } from '../../../../generated/billing/types.ts';
import { momentText } from '../../../lib/moments.ts';
import { changeBalance } from '../customers/balance.ts';
import type { Deps } from '../deps.ts';
import { Refused } from '../errors.ts';
import { accountStore } from '../invoices/account.store.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { type InvoiceChange, invoiceStore, type InvoiceRow, lineOf } from '../invoices/invoices.store.ts';
import { checkOpen, recover, type LockedInvoice } from '../invoices/open-invoice.ts';
import { reopened } from '../invoices/settlement.ts';
import { settlementStore } from '../invoices/settlements.store.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import { cancelOpen, release } from '../payments/outcomes.ts';
import type { Write } from '../writes.ts';

/**
 * Voids an invoice: nobody owes it any more. What was paid of it becomes credit. Its charges are written off or, with `rebill`, owed
 * again, as if it had never been. One that was voided in just this way stays as it is.
 */
export async function voidInvoice(
  tx: Write,
  { clock }: Pick<Deps, 'clock'>,
  { invoice, subscription }: LockedInvoice,
  { reason, rebill }: Voiding,
): Promise<InvoiceRow> {
  const now = clock.now();
  const isAgain = invoice.status === 'voided' && invoice.void_reason === (reason ?? null);
  if (isAgain && (await invoiceStore(tx.sql).isRebilled(invoice)) === (rebill === true)) return invoice;
  checkOpen(invoice);
  if (invoice.total < 0 && invoice.status !== 'draft')
    throw Refused('invoice_paid', 'invoice is a credit, which its customer has already');
  if (invoice.status !== 'draft') {
    await giveBackCredit(tx, invoice, rebill === true ? 0 : await ownCredit(tx, invoice), now);
    if (rebill === true) await reopen(tx, invoice, subscription);
  }
  const change: InvoiceChange = {
    status: 'voided',
    voided_at: momentText(now),
    void_reason: reason ?? null,
    next_attempt_at: null,
    auto_finalize_at: null,
  };
  await invoiceStore(tx.sql).change(invoice, { ...change, is_rebilled: rebill === true }, now);
  const payments = { tenant_id: invoice.tenant_id, invoice_id: invoice.id };
  await cancelOpen(tx, payments, now);
  if (invoice.status !== 'draft') await release(tx, payments, now);
  const after = { ...invoice, ...change, updated_at: momentText(now) };
  tx.emit('billing.invoice.voided', after, invoiceOf(after, []));
  await recover(tx, subscription, now);
  return after;
}

/** What of its credit an invoice owes to charges of its own that were given back: they are written off with it, and were never paid. */
async function ownCredit({ sql }: Pick<Write, 'sql'>, invoice: InvoiceRow): Promise<number> {
  if (invoice.set_off_amount === 0) return 0;
  return Math.min(invoice.set_off_amount, await invoiceStore(sql).givenBack(invoice));
}

/** The credit that was used is there again, except for a part of it. */
async function giveBackCredit(tx: Write, invoice: InvoiceRow, except: number, now: number): Promise<void> {
  const { tenant_id, customer_id, credit_applied } = invoice;
  if (credit_applied === except || customer_id === null) return;
  const cause = { reason: `${invoice.number} voided`, invoiceId: invoice.id };
  const amount = -BigInt(credit_applied - except);
  await changeBalance(tx, { tenant_id, customerId: customer_id, amount, cause }, now);
}

async function reopen({ sql }: Write, invoice: InvoiceRow, subscription: ListedSubscription): Promise<void> {
  const lines = (await invoiceStore(sql).lines(invoice)).map(lineOf);
  const keys = lines.map(({ key }) => key);
  const first = Math.min(...keys.map(({ periodStart }) => periodStart));
  if (lines.length > 0) {
    const before = await settlementStore(sql).list(subscription, first);
    await settlementStore(sql).replace(subscription, keys, reopened(before, lines));
  }
  await accountStore(sql).takeBackUses(subscription, invoice.id);
}
