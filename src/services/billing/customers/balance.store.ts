import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { Refused } from '../errors.ts';
import { mostMinorUnits } from '../money/money.ts';
import { columns, type CustomerRow } from './customers.store.ts';

/** Why a balance changes: what gave or used the credit, unless the operator did. */
export interface BalanceCause {
  readonly reason?: string | null;
  readonly idempotencyKey?: string | null;
  readonly invoiceId?: string | null;
  readonly paymentId?: string | null;
}

/** Every statement about the balances of customers, which also those have that were erased. */
export const balanceStore = (sql: Sql) => ({
  /**
   * Adds an entry to the account of a customer and returns the customer after it, even one that was erased. Its row is locked by it.
   *
   * @param amount minor units: negative gives credit, positive uses it
   * @throws the violation of `balance_entry_key` when the customer has an entry with the key, and of `customer_credit` when more is used
   * than there is
   */
  async change(
    tenant: string,
    customerId: string,
    amount: bigint,
    { reason = null, idempotencyKey = null, invoiceId = null, paymentId = null }: BalanceCause,
    at: number,
  ): Promise<CustomerRow> {
    const [changed] = await sql<CustomerRow[]>`
      with changed as (
        update billing.customer set balance = balance + ${String(amount)}::bigint, updated_at = ${new Date(at)}
        where tenant_id = ${tenant} and id = ${customerId}
          and balance + ${String(amount)}::bigint >= ${String(-mostMinorUnits)}::bigint
        returning ${columns(sql)}
      ), entered as (
        insert into billing.balance_entry
          (tenant_id, id, customer_id, amount, reason, idempotency_key, invoice_id, payment_id, created_at)
        select ${tenant}, ${newId('bal')}, ${customerId}, ${String(amount)}::bigint, ${reason}::text, ${idempotencyKey}::text,
          ${invoiceId}::text, ${paymentId}::text, ${new Date(at)}::timestamptz
        from changed
      )
      select ${columns(sql)} from changed`;
    if (changed === undefined) throw Refused('invalid_amount', 'amount: the balance would be too large');
    return changed;
  },
});
