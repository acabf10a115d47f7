import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { customerStore } from '../customers/customers.store.ts';
import { CustomerNotFound, Refused } from '../errors.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { methodStore } from '../payments/methods.store.ts';
import { accountStore } from './accounts.store.ts';

type ErasureDeps = Pick<PaymentDeps, 'write' | 'clock' | 'later' | 'provider' | 'log'>;

/** Erases a customer that no live subscription is billed to. Final invoices keep whom they billed, as the law wants. */
export async function erase(
  { write, clock, later, provider, log }: ErasureDeps,
  context: Context,
  id: string,
): Promise<void> {
  const methods = await write(context, async ({ sql, emit }) => {
    const found = await customerStore(sql).find(viewOf(context), id);
    if (found === undefined) throw CustomerNotFound();
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
