import { momentText } from '../../../lib/moments.ts';
import type { View } from '../../../db/view.ts';
import type { Deps } from '../deps.ts';
import { InvoiceNotFound, Refused } from '../errors.ts';
import { nextStatus } from '../subscriptions/states.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import { type ListedSubscription, subscriptionStore } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { attemptAtRest } from './carrying.ts';
import { finalize } from './finalizing.ts';
import { invoiceOf } from './invoice.ts';
import { type InvoiceKey, invoiceStore, type InvoiceRow } from './invoices.store.ts';

type Tx = Pick<Write, 'sql' | 'emit'>;

/** An invoice and its subscription, both locked until the end of the transaction. */
export interface LockedInvoice {
  readonly invoice: InvoiceRow;
  readonly subscription: ListedSubscription;
}

/**
 * Locks an invoice and its subscription. Whoever locks payments or customers, too, does so afterwards.
 * @throws Refused `invoice_not_found`
 */
export async function lockInvoice({ sql }: Pick<Tx, 'sql'>, view: View, ref: string): Promise<LockedInvoice> {
  const found = await invoiceStore(sql).find(view, ref);
  if (found === undefined) throw InvoiceNotFound();
  const owner = { app: found.app_id, tenant: found.tenant_id };
  const subscription = await subscriptionStore(sql).lock(owner, found.subscription_id);
  const invoice = await invoiceStore(sql).lock(found);
  if (subscription === undefined || invoice === undefined) throw InvoiceNotFound();
  return { invoice, subscription };
}

/**
 * Locks an invoice that can be paid; a draft becomes final.
 * @throws Refused `invoice_not_found`, `invoice_paid`, `invoice_voided` or `invoice_incomplete`
 */
export async function openInvoice(
  tx: Tx,
  deps: Pick<Deps, 'revisions' | 'clock' | 'settings' | 'chargeLimits'>,
  view: View,
  ref: string,
): Promise<InvoiceRow> {
  const { invoice, subscription } = await lockInvoice(tx, view, ref);
  checkOpen(invoice);
  return invoice.status === 'draft' ? await finalize(tx, deps, subscription, invoice) : invoice;
}

/** @throws Refused `invoice_paid` or `invoice_voided` */
export function checkOpen({ status }: Pick<InvoiceRow, 'status'>): void {
  if (status === 'paid') throw Refused('invoice_paid', 'invoice is paid');
  if (status === 'voided') throw Refused('invoice_voided', 'invoice is voided');
}

/**
 * Adds money that has arrived to an invoice, as far as it is due, and returns what is left over: all of it when the invoice is paid or
 * voided. An invoice that is covered is paid, and with its last debt gone, its subscription is active again.
 */
export async function receive(
  tx: Tx,
  deps: Pick<Deps, 'chargeLimits'>,
  key: InvoiceKey & { app_id: string },
  amount: bigint,
  at: number,
): Promise<bigint> {
  const { sql, emit } = tx;
  const { invoice, subscription } = await lockInvoice(tx, { app: key.app_id, tenant: key.tenant_id }, key.id);
  if (invoice.status !== 'pending' && invoice.status !== 'past_due') return amount;
  const due = BigInt(invoice.amount_due - invoice.amount_paid);
  const taken = amount < due ? amount : due;
  const isCovered = taken === due;
  const change = {
    amount_paid: invoice.amount_paid + Number(taken),
    ...(isCovered
      ? { status: 'paid' as const, paid_at: momentText(at), next_attempt_at: null }
      : attemptAtRest(deps, invoice, due - taken, at)),
  };
  await invoiceStore(sql).change(invoice, change, at);
  if (isCovered) {
    emit(
      'billing.invoice.paid',
      invoice,
      invoiceOf({ ...invoice, ...change, updated_at: momentText(at) }, []),
    );
    await recover(tx, subscription, at);
  }
  return amount - taken;
}

/** Makes a subscription active again when none of its invoices is overdue and none has failed. */
export async function recover(
  { sql, emit }: Tx,
  subscription: ListedSubscription,
  at: number,
): Promise<void> {
  const status = nextStatus(subscription.status, 'debtsAreCleared');
  if (status === undefined || (await invoiceStore(sql).hasDebts(subscription.tenant_id, subscription.id)))
    return;
  await subscriptionStore(sql).change(subscription, { status }, at);
  const changed = { ...subscription, status, updated_at: momentText(at) };
  emit('billing.subscription.activated', changed, subscriptionOf(changed));
}
