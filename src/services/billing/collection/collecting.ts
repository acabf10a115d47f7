import { DomainError } from '../../../lib/errors.ts';
import { momentText } from '../../../lib/moments.ts';
import { codeOf } from '../errors.ts';
import type { DueInvoice } from '../invoices/due-invoices.store.ts';
import { leaveRest } from '../invoices/carrying.ts';
import { invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import { lockInvoice, receive } from '../invoices/open-invoice.ts';
import { attemptRefused, collectionFailed } from '../lifecycle/debts.ts';
import type { LifecycleDeps } from '../lifecycle/renewals.ts';
import { firstCharge } from '../money/charge-limits.ts';
import { collect, refusedByProvider, tooSmallForProvider } from '../payments/charging.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { methodStore } from '../payments/methods.store.ts';
import { cancelOpen } from '../payments/outcomes.ts';
import type { PaymentRow } from '../payments/payment.ts';
import { reserve } from '../payments/reservation.ts';
import { system, type Write } from '../writes.ts';

const hourMs = 3_600_000;

/** When something stands in the way of an attempt, or nothing came of it, the invoice is looked at again. */
const againMs = { noMethod: 24 * hourMs, busy: hourMs, nextPart: hourMs, noOutcome: 48 * hourMs };

/** Makes an attempt to collect an invoice that is due, with the default payment method of its customer. */
export async function collectDue(deps: PaymentDeps, due: DueInvoice): Promise<void> {
  const payment = await deps.write(system(due.tenant_id, due.app_id), (tx) => attempt(tx, deps, due));
  if (payment === undefined) return;
  try {
    await collect(deps, payment);
  } catch (error) {
    // What the provider said is stored, and what it did not say is reconciled.
    if (!(error instanceof DomainError) || codeOf(error) === undefined) throw error;
  }
}

/** Reserves the payment of an attempt. */
async function attempt(tx: Write, deps: PaymentDeps, due: DueInvoice): Promise<PaymentRow | undefined> {
  const view = { tenant: due.tenant_id, app: due.app_id };
  const locked = await lockInvoice(tx, view, due.id);
  const now = deps.clock.now();
  if (!isDue(locked.invoice, now)) return undefined;
  const invoice = await leaveRest(tx, deps, locked.invoice, now);
  if (invoice.amount_due === invoice.amount_paid) {
    await receive(tx, deps, invoice, 0n, now);
    await cancelOpen(tx, { tenant_id: invoice.tenant_id, invoice_id: invoice.id }, now);
    return undefined;
  }
  const later = (ms: number) => ({ next_attempt_at: momentText(now + ms) });
  const store = invoiceStore(tx.sql);
  const method = await methodOf(tx, deps, invoice);
  if (method === undefined) {
    await store.change(invoice, later(againMs.noMethod), now);
    return undefined;
  }
  const open = BigInt(invoice.amount_due - invoice.amount_paid);
  const first = firstCharge(open, deps.chargeLimits(invoice.currency));
  const isPart = first < open;
  try {
    const { payment } = await reserve(tx, deps, view, {
      ...{ invoice_id: invoice.id, customer_id: null, payment_method_id: method, metadata: {} },
      ...(isPart && { amount: { amount: Number(first), currency: invoice.currency } }),
      isAutomatic: true,
    });
    const attempt_count = invoice.attempt_count + 1;
    await store.change(
      invoice,
      { attempt_count, ...later(isPart ? againMs.nextPart : againMs.noOutcome) },
      now,
    );
    return payment;
  } catch (error) {
    // Somebody else is paying it at the moment.
    if (!(error instanceof DomainError) || codeOf(error) !== 'invalid_amount') throw error;
    await store.change(invoice, later(againMs.busy), now);
    return undefined;
  }
}

const isDue = ({ status, next_attempt_at }: InvoiceRow, now: number): boolean =>
  (status === 'pending' || status === 'past_due') &&
  next_attempt_at !== null &&
  Date.parse(next_attempt_at) <= now;

async function methodOf(
  { sql }: Pick<Write, 'sql'>,
  { provider }: PaymentDeps,
  { tenant_id, customer_id }: InvoiceRow,
): Promise<string | undefined> {
  if (customer_id === null || provider === undefined) return undefined;
  const methods = await methodStore(sql).list({ tenant_id, customer_id });
  return methods.find(({ is_default, processor_name }) => is_default && processor_name === provider.name)?.id;
}

/** Notes the failure of an attempt. The invoice and its subscription are locked. */
export const noteFailure =
  (deps: LifecycleDeps): PaymentDeps['onFailed'] =>
  async (tx, payment) => {
    if (!payment.is_automatic) return;
    const { tenant_id: tenant, app_id: app, invoice_id } = payment;
    const locked = await lockInvoice(tx, { tenant, app }, invoice_id);
    if (payment.failure_code === tooSmallForProvider) {
      const now = deps.clock.now();
      await leaveRest(tx, deps, locked.invoice, now, true);
      await invoiceStore(tx.sql).change(locked.invoice, { next_attempt_at: momentText(now) }, now);
      return;
    }
    const note = payment.failure_code === refusedByProvider ? attemptRefused : collectionFailed;
    await note(tx, deps, locked);
  };
