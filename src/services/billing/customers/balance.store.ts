import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';

/** Why a balance changes, and what changes it. */
export interface BalanceEntry {
  readonly reason: string | null;
  readonly idempotencyKey: string | null;
  readonly invoiceId: string | null;
  readonly paymentId: string | null;
}

/** Every statement about the balances of customers. */
export const balanceStore = (sql: Sql) => ({
  /** Adds an entry; a negative amount gives credit. */
  async change(
    tenant: string,
    customerId: string,
    amount: bigint,
    entry: BalanceEntry,
    at: number,
  ): Promise<void> {
    await sql`
      update billing.customer set balance = balance + ${String(amount)}::bigint, updated_at = ${new Date(at)}
      where tenant_id = ${tenant} and id = ${customerId}`;
    await sql`
      insert into billing.balance_entry ${sql({
        ...{
          tenant_id: tenant,
          id: newId('ble'),
          customer_id: customerId,
          amount: String(amount),
          reason: entry.reason,
        },
        ...{
          idempotency_key: entry.idempotencyKey,
          invoice_id: entry.invoiceId,
          payment_id: entry.paymentId,
        },
        created_at: new Date(at),
      })}`;
  },
});
