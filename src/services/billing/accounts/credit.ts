import type { Credit } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { changeBalance } from '../customers/balance.ts';
import { customerStore, type CustomerRow } from '../customers/customers.store.ts';
import type { Deps } from '../deps.ts';
import { CustomerNotFound, KeyReused, Refused } from '../errors.ts';
import { requestKeyOf } from '../request-keys.ts';
import { accountStore } from './accounts.store.ts';

/** A customer and its balance after credit was given, in minor units. */
interface Credited {
  readonly customer: CustomerRow;
  readonly balance: bigint;
}

/** Gives a customer credit, which pays its next invoices. A repeat with the same key and body gives nothing. */
export async function giveCredit(
  { write, clock }: Pick<Deps, 'write' | 'clock'>,
  context: Context,
  id: string,
  { amount, reason, idempotency_key = requestKeyOf(context) }: Credit,
): Promise<Credited> {
  return await write(context, async (tx) => {
    const { sql } = tx;
    const customer = await customerStore(sql).lock(viewOf(context), id);
    if (customer === undefined) throw CustomerNotFound();
    if (amount.currency !== customer.currency)
      throw Refused('invalid_amount', `amount: must be in ${customer.currency}`);
    if (amount.amount === 0) throw Refused('invalid_amount', 'amount: must be more than 0');
    const given = -BigInt(amount.amount);
    const earlier =
      idempotency_key === undefined ? undefined : await accountStore(sql).entry(customer, idempotency_key);
    if (earlier !== undefined) {
      if (BigInt(earlier.amount) !== given || earlier.reason !== reason) throw KeyReused();
      return { customer, balance: BigInt(customer.balance) };
    }
    const cause = { reason, idempotencyKey: idempotency_key ?? null };
    const change = { tenant_id: customer.tenant_id, customerId: id, amount: given, cause };
    return { customer, balance: await changeBalance(tx, change, clock.now()) };
  });
}
