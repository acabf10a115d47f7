import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { DomainError } from '../../../lib/errors.ts';
import { customerStore, type CustomerRow } from '../customers/customers.store.ts';
import { codeOf, CustomerNotFound, Refused } from '../errors.ts';
import { finalize } from '../invoices/finalizing.ts';
import { lockInvoice } from '../invoices/open-invoice.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { methodStore } from '../payments/methods.store.ts';
import type { Write } from '../writes.ts';
import { accountStore } from './accounts.store.ts';

type ErasureDeps = Pick<
  PaymentDeps,
  'write' | 'clock' | 'settings' | 'chargeLimits' | 'revisions' | 'later' | 'provider' | 'log'
>;

/**
 * Erases a customer that no live subscription is billed to. Final invoices keep whom they billed, as the law wants, and what was about to
 * become final does so before.
 */
export async function erase(deps: ErasureDeps, context: Context, id: string): Promise<void> {
  const { write, clock, later, provider, log } = deps;
  const methods = await write(context, async (tx) => {
    const { sql, emit } = tx;
    const found = await customerStore(sql).find(viewOf(context), id);
    if (found === undefined) throw CustomerNotFound();
    await finalizeDrafts(tx, deps, found);
    await accountStore(sql).lockAlone(found);
    const customer = await customerStore(sql).find(viewOf(context), id);
    if (customer === undefined) throw CustomerNotFound();
    if (await customerStore(sql).isNeeded(customer))
      throw Refused('has_active_subscriptions', 'customer has a live subscription');
    const methods = await methodStore(sql).list({ tenant_id: customer.tenant_id, customer_id: id });
    await accountStore(sql).erase(customer, clock.now());
    emit('billing.customer.deleted', customer, { id });
    return methods;
  });
  for (const { processor_name, processor_id: processorId, processor_customer_id: customerId } of methods)
    if (processor_name === provider?.name)
      later.run(async () => {
        const result = await provider.detach({ processorId, customerId });
        if (result.state !== 'detached') log.warn({ customer: id }, 'a payment method could not be detached');
      });
}

async function finalizeDrafts(
  tx: Write,
  deps: ErasureDeps,
  { tenant_id, app_id, id }: CustomerRow,
): Promise<void> {
  for (const draft of await accountStore(tx.sql).drafts({ tenant_id, id })) {
    const { invoice, subscription } = await lockInvoice(tx, { tenant: tenant_id, app: app_id }, draft);
    if (invoice.status !== 'draft') continue;
    try {
      await finalize(tx, deps, subscription, invoice);
    } catch (error) {
      // What nobody could make final does not keep a customer from being erased.
      if (!(error instanceof DomainError) || codeOf(error) !== 'invoice_incomplete') throw error;
    }
  }
}
