import type { ErrorDetails } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { customerStore, type CustomerRow } from '../customers/customers.store.ts';
import { CustomerNotFound, Refused } from '../errors.ts';
import { computed } from '../invoices/account.ts';
import { lockInvoice } from '../invoices/open-invoice.ts';
import { voidInvoice } from '../invoicing/voiding.ts';
import { moneyOf } from '../money/money.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { methodStore } from '../payments/methods.store.ts';
import type { Write } from '../writes.ts';
import { accountStore } from './accounts.store.ts';

type ErasureDeps = Pick<
  PaymentDeps,
  'write' | 'clock' | 'settings' | 'chargeLimits' | 'revisions' | 'later' | 'provider' | 'log'
>;

/**
 * Erases a customer that no live subscription is billed to, that owes nothing and is owed nothing: an erasure does not write off a debt.
 * Final invoices keep whom they billed, as the law wants, and drafts, which show nothing that is owed, are voided.
 */
export async function erase(deps: ErasureDeps, context: Context, id: string): Promise<void> {
  const { write, clock, later, provider, log } = deps;
  const methods = await write(context, async (tx) => {
    const { sql, emit } = tx;
    const found = await customerStore(sql).find(viewOf(context), id);
    if (found === undefined) throw CustomerNotFound();
    const { tenant_id, app_id } = found;
    const view = { tenant: tenant_id, app: app_id };
    await accountStore(sql).lockPastSubscriptions(found);
    const drafts = await accountStore(sql).drafts(found);
    const locked = [];
    for (const draft of drafts) locked.push(await lockInvoice(tx, view, draft));
    await accountStore(sql).lockAlone(found);
    const customer = await customerStore(sql).find(viewOf(context), id);
    if (customer === undefined) throw CustomerNotFound();
    if (await customerStore(sql).isNeeded(customer))
      throw Refused('has_active_subscriptions', 'customer has a live subscription');
    await checkSettled(tx, deps, customer);
    for (const one of locked)
      if (one.invoice.status === 'draft')
        await voidInvoice(tx, deps, one, { reason: 'customer was erased', rebill: false });
    const methods = await methodStore(sql).list({ tenant_id, customer_id: id });
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

/** @throws Refused `customer_in_use`, naming what is open */
async function checkSettled(tx: Write, deps: ErasureDeps, customer: CustomerRow): Promise<void> {
  const store = accountStore(tx.sql);
  const subscription_ids = await unbilled(tx, deps, customer);
  const [invoice_ids, payment_ids] = [
    await store.openInvoices(customer),
    await store.pendingPayments(customer),
  ];
  // Credit and what invoices have left to the next one cancel each other out.
  const balance = customer.balance + customer.carried_amount;
  const about: ErrorDetails = {
    ...(subscription_ids.length > 0 && { subscription_ids }),
    ...(invoice_ids.length > 0 && { invoice_ids }),
    ...(payment_ids.length > 0 && { payment_ids }),
    ...(balance !== 0 && { balance: moneyOf(BigInt(balance), customer.currency) }),
  };
  const texts = {
    subscription_ids: 'amounts that are not billed',
    invoice_ids: 'open invoices',
    payment_ids: 'pending payments',
    balance: balance < 0 ? 'credit' : 'an amount that its next invoice collects',
  };
  const open = Object.entries(texts).flatMap(([name, text]) => (name in about ? [text] : []));
  if (open.length > 0)
    throw Refused('customer_in_use', `customer has ${open.join(', ')}`, { kind: 'conflict', about });
}

/** The subscriptions of a customer that have ended and of which something is still to be billed. */
async function unbilled(tx: Write, deps: ErasureDeps, customer: CustomerRow): Promise<string[]> {
  const asOf = deps.clock.now();
  const found = [];
  for (const subscription of await accountStore(tx.sql).pastSubscriptions(customer)) {
    const scope = { asOf, withRunning: false, currency: customer.currency, lock: false };
    const { lines, payer } = await computed(tx.sql, deps, subscription, scope);
    if (payer?.id === customer.id && lines.some(({ amount }) => amount !== 0n)) found.push(subscription.id);
  }
  return found;
}
