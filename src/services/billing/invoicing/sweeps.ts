import type { Sweep } from '../../../db/sweeps.ts';
import { DomainError } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../errors.ts';
import { computed } from '../invoices/account.ts';
import { scopeOf } from '../invoices/drafts.ts';
import { finalize } from '../invoices/finalizing.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import { type DueInvoice, dueInvoiceStore } from '../invoices/due-invoices.store.ts';
import { lockInvoice, type LockedInvoice } from '../invoices/open-invoice.ts';
import { momentText } from '../../../lib/moments.ts';
import { isLive } from '../subscriptions/states.ts';
import { system, type Write } from '../writes.ts';
import { voidInvoice } from './voiding.ts';

/** When a draft that cannot become final yet, for example because the country of its customer is missing, is tried again. */
const patienceMs = 3_600_000;
/** For how long the country of a customer is waited for. A debt does not wait longer: without it, the invoice is not taxed. */
const longestWaitMs = 7 * 86_400_000;

/** When a draft that is still incomplete becomes final as it is or, if it cannot, void. */
const lastTryOf = ({ created_at }: InvoiceRow, { settings }: Pick<Deps, 'settings'>): number =>
  Date.parse(created_at) + Math.min(longestWaitMs, settings.lateWindowMs);

/** Drafts of renewals become final by themselves once late usage has had its time. */
export const finalizingSweep = (deps: Deps): Sweep => ({
  name: 'billing.finalizing',
  everyMs: deps.settings.tickMs,
  batch: 100,
  steps: [
    async (batch, signal) => {
      const due = await dueInvoiceStore(deps.db.sql).drafts(deps.clock.now(), batch);
      for (const one of due) if (signal?.aborted !== true) await finalizeDue(deps, one);
      return due.length;
    },
  ],
});

async function finalizeDue(deps: Deps, due: DueInvoice): Promise<void> {
  const { tenant_id, app_id, id } = due;
  const author = system(tenant_id, app_id);
  const locked = (tx: Write) => lockInvoice(tx, { tenant: tenant_id, app: app_id }, id);
  try {
    await deps.write(author, async (tx) => {
      const { invoice, subscription } = await locked(tx);
      if (!isDue(invoice, deps.clock.now())) return;
      const isLast = lastTryOf(invoice, deps) <= deps.clock.now();
      await finalize(tx, deps, subscription, invoice, isLast ? 'unknownTax' : undefined);
    });
  } catch (error) {
    const missing =
      error instanceof DomainError && codeOf(error) === 'invoice_incomplete' ? error.message : undefined;
    if (missing === undefined) deps.log.error({ err: error, invoice: id }, 'a draft could not be made final');
    await deps.write(author, async (tx) => putOff(tx, deps, await locked(tx), missing));
  }
}

const isDue = ({ status, auto_finalize_at }: LockedInvoice['invoice'], now: number): boolean =>
  status === 'draft' && auto_finalize_at !== null && Date.parse(auto_finalize_at) <= now;

/** Voids a draft with nothing left to bill or nobody left to bill, and tries any other one later. */
async function putOff(
  tx: Write,
  deps: Deps,
  { invoice, subscription }: LockedInvoice,
  missing?: string,
): Promise<void> {
  const now = deps.clock.now();
  if (!isDue(invoice, now)) return;
  const isLast = lastTryOf(invoice, deps) <= now;
  // The charges of a draft that is voided stay owed, and the next invoice bills them.
  const reason = (await reasonToVoid(tx, deps, { invoice, subscription })) ?? (isLast ? missing : undefined);
  if (reason !== undefined) {
    await voidInvoice(tx, deps, { invoice, subscription }, { reason, rebill: false });
    return;
  }
  await invoiceStore(tx.sql).change(
    invoice,
    {
      auto_finalize_at: momentText(
        isLast ? now + patienceMs : Math.min(now + patienceMs, lastTryOf(invoice, deps)),
      ),
    },
    now,
  );
  tx.emit('billing.invoice.incomplete', invoice, invoiceOf(invoice, []));
}

/**
 * Why a draft can never become final. What was unknown of a customer when it was erased stays unknown. Another customer of the tenant
 * takes its place only while the subscription is live.
 */
async function reasonToVoid(
  tx: Write,
  deps: Deps,
  { invoice, subscription }: LockedInvoice,
): Promise<string | undefined> {
  const scope = { ...scopeOf(invoice, deps.clock.now()), currency: invoice.currency, lock: false };
  const { lines, payer } = await computed(tx.sql, deps, subscription, scope);
  if (lines.length === 0) return 'nothing left to bill';
  const isLeft = payer === undefined && invoice.customer_id !== null && !isLive(subscription.status);
  return payer?.isErased === true || isLeft ? 'customer was erased' : undefined;
}
