import type { Fragment, Sql } from '../../../db/index.ts';
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

/** An entry in the account of a customer, as it is stored. */
export interface BalanceEntryRow {
  readonly id: string;
  readonly customer_id: string;
  /** Minor units of the customer's currency: negative gives credit, positive uses it. */
  readonly amount: number;
  readonly reason: string | null;
  readonly idempotency_key: string | null;
  readonly invoice_id: string | null;
  readonly payment_id: string | null;
  readonly created_at: string;
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
    cause: BalanceCause,
    at: number,
  ): Promise<CustomerRow> {
    const change = sql`balance = balance + ${String(amount)}::bigint`;
    return await entered(sql, change, { tenant, customerId, amount, cause, at });
  },

  /**
   * Adds an amount to what the customer's next invoice has to collect, or takes it off. Its row is locked by it.
   * @throws the violation of `customer_carried` when more is taken up than was left
   */
  async carry(
    tenant: string,
    customerId: string,
    amount: bigint,
    cause: BalanceCause,
    at: number,
  ): Promise<CustomerRow> {
    const change = sql`carried_amount = carried_amount + ${String(amount)}::bigint`;
    return await entered(sql, change, { tenant, customerId, amount, cause, at });
  },

  /** Locks a customer, and returns what earlier invoices have left to its next one. */
  async carried(tenant: string, customerId: string): Promise<bigint> {
    const [row] = await sql<{ carried_amount: number }[]>`
      select carried_amount from billing.customer where tenant_id = ${tenant} and id = ${customerId} for no key update`;
    return BigInt(row?.carried_amount ?? 0);
  },

  /** The entries of a customer that follow one, oldest first. */
  async following(
    { tenant_id, id }: Pick<CustomerRow, 'tenant_id' | 'id'>,
    after: string,
    most: number,
  ): Promise<BalanceEntryRow[]> {
    return await sql<BalanceEntryRow[]>`
      select id, customer_id, amount, reason, idempotency_key, invoice_id, payment_id, created_at from billing.balance_entry
      where tenant_id = ${tenant_id} and customer_id = ${id} and id > ${after}
      order by id limit ${most}`;
  },
});

interface Entry {
  readonly tenant: string;
  readonly customerId: string;
  readonly amount: bigint;
  readonly cause: BalanceCause;
  readonly at: number;
}

/** Changes a customer and adds the entry that says so. */
async function entered(
  sql: Sql,
  change: Fragment,
  {
    tenant,
    customerId,
    amount,
    cause: { reason = null, idempotencyKey = null, invoiceId = null, paymentId = null },
    at,
  }: Entry,
): Promise<CustomerRow> {
  const [changed] = await sql<CustomerRow[]>`
    with changed as (
      update billing.customer set ${change}, updated_at = ${new Date(at)}
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
}
