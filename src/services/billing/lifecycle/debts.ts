import { momentText } from '../../../lib/moments.ts';
import { nextAttempt } from './dunning.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { type InvoiceChange, invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import { nextStatus, type SubscriptionTrigger } from '../subscriptions/states.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { end } from './endings.ts';
import type { LifecycleDeps } from './renewals.ts';
import { changed } from './standing.ts';

/** An invoice and its subscription, both locked. */
interface Debt {
  readonly invoice: InvoiceRow;
  readonly subscription: ListedSubscription;
}

const isOwed = ({ status }: InvoiceRow): boolean => status === 'pending' || status === 'past_due';

/**
 * Notes that an attempt to collect an invoice has failed. It is tried again after the waits of the settings; after the last attempt, the
 * subscription expires, and the invoice remains to be paid.
 */
export async function collectionFailed(
  tx: Write,
  deps: LifecycleDeps,
  { invoice, subscription }: Debt,
): Promise<void> {
  if (!isOwed(invoice)) return;
  const now = deps.clock.now();
  const next = nextAttempt(invoice.attempt_count, now, deps.settings.dunningMs);
  const after = await changedInvoice(
    tx,
    invoice,
    { next_attempt_at: next === undefined ? null : momentText(next) },
    now,
  );
  tx.emit('billing.invoice.payment_failed', after, invoiceOf(after, []));
  const late = await pastDue(tx, subscription, 'paymentFails', now);
  if (next !== undefined) return;
  const owing = await changedInvoice(tx, after, { status: 'past_due' }, now);
  tx.emit('billing.invoice.past_due', owing, invoiceOf(owing, []));
  if (nextStatus(late.status, 'attemptsAreExhausted') !== undefined)
    await end(tx, deps, late, { status: 'expired', at: now });
}

/** When an attempt that the provider refused is made again. */
const refusedAgainMs = 24 * 3_600_000;

/**
 * Notes that the provider refused the request of an attempt, for its credentials or for an amount that it does not take. The customer can do
 * nothing about that, so the attempt does not count.
 */
export async function attemptRefused(
  { sql }: Pick<Write, 'sql'>,
  { clock }: Pick<LifecycleDeps, 'clock'>,
  { invoice }: Pick<Debt, 'invoice'>,
): Promise<void> {
  if (!isOwed(invoice)) return;
  const now = clock.now();
  const attempt_count = Math.max(0, invoice.attempt_count - 1);
  await changedInvoice(
    { sql },
    invoice,
    { attempt_count, next_attempt_at: momentText(now + refusedAgainMs) },
    now,
  );
}

/** Notes that an invoice was not paid by its due date. */
export async function overdue(
  tx: Write,
  { clock }: Pick<LifecycleDeps, 'clock'>,
  { invoice, subscription }: Debt,
): Promise<void> {
  const now = clock.now();
  const after = await changedInvoice(tx, invoice, { status: 'past_due' }, now);
  tx.emit('billing.invoice.past_due', after, invoiceOf(after, []));
  await pastDue(tx, subscription, 'invoiceIsOverdue', now);
}

async function pastDue(
  tx: Write,
  subscription: ListedSubscription,
  trigger: SubscriptionTrigger,
  now: number,
): Promise<ListedSubscription> {
  const status = nextStatus(subscription.status, trigger);
  if (status === undefined || status === subscription.status) return subscription;
  const after = await changed(tx, subscription, { status }, now);
  tx.emit('billing.subscription.past_due', after, subscriptionOf(after));
  return after;
}

async function changedInvoice(
  { sql }: Pick<Write, 'sql'>,
  invoice: InvoiceRow,
  change: InvoiceChange,
  at: number,
): Promise<InvoiceRow> {
  await invoiceStore(sql).change(invoice, change, at);
  return { ...invoice, ...change, updated_at: momentText(at) };
}
