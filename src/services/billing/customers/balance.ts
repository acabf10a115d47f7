import { moneyOf } from '../money/money.ts';
import type { Write } from '../writes.ts';
import { type BalanceCause, balanceStore } from './balance.store.ts';
import { customerOf, toldOf } from './customer.ts';
import type { CustomerRow } from './customers.store.ts';

/** A change of a customer's balance. */
export interface BalanceChange {
  readonly tenant_id: string;
  readonly customerId: string;
  /** Minor units: negative gives credit, positive uses it. */
  readonly amount: bigint;
  readonly cause: BalanceCause;
}

/** Changes the balance of a customer, whatever the cause, and tells of it. Returns the new balance. */
export async function changeBalance(
  { sql, emit }: Pick<Write, 'sql' | 'emit'>,
  { tenant_id, customerId, amount, cause }: BalanceChange,
  at: number,
): Promise<bigint> {
  return told(emit, await balanceStore(sql).change(tenant_id, customerId, amount, cause, at), amount);
}

/** Leaves an amount to the next invoice of a customer, whatever credit there is, or takes one up that was left. */
export async function carry(
  { sql, emit }: Pick<Write, 'sql' | 'emit'>,
  { tenant_id, customerId, amount, cause }: BalanceChange,
  at: number,
): Promise<bigint> {
  return told(emit, await balanceStore(sql).carry(tenant_id, customerId, amount, cause, at), amount);
}

function told(emit: Write['emit'], row: CustomerRow, amount: bigint): bigint {
  const after = customerOf(row);
  const balance = BigInt(after.balance.amount);
  const previous = { balance: moneyOf(balance - amount, row.currency) };
  emit('billing.customer.balance_changed', after, { ...toldOf(after), previous });
  return balance;
}
