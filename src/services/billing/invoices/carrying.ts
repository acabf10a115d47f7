import { momentText } from '../../../lib/moments.ts';
import { balanceStore } from '../customers/balance.store.ts';
import { carry, changeBalance } from '../customers/balance.ts';
import type { Deps } from '../deps.ts';
import { collectable } from '../money/charge-limits.ts';
import type { Write } from '../writes.ts';
import { type InvoiceChange, invoiceStore, type InvoiceRow } from './invoices.store.ts';

type Tx = Pick<Write, 'sql' | 'emit'>;
type Limits = Pick<Deps, 'chargeLimits'>;

/** An invoice as far as amounts are carried between it and others of its customer. */
type Carrying = Pick<InvoiceRow, 'tenant_id' | 'id' | 'number' | 'currency' | 'customer_id'>;

/**
 * What an invoice that becomes final takes up of what earlier ones have left, less what it leaves to the next one, because the provider
 * takes no such amount. An invoice with nothing to pay takes up and leaves nothing.
 */
export async function carriedBy(
  tx: Tx,
  { chargeLimits }: Limits,
  invoice: Carrying,
  due: bigint,
  now: number,
): Promise<bigint> {
  const { tenant_id, customer_id, currency } = invoice;
  if (due === 0n || customer_id === null) return 0n;
  const left = await balanceStore(tx.sql).carried(tenant_id, customer_id);
  const carried = collectable(due + left, chargeLimits(currency)) - due;
  await leave(tx, invoice, -carried, now);
  return carried;
}

/**
 * Leaves to the next invoice what can never be collected of one that is final: less than the provider takes, after a part was paid in another
 * way or under another provider. With `all`, the provider has refused the whole rest as too little.
 */
export async function leaveRest(
  tx: Tx,
  { chargeLimits }: Limits,
  invoice: InvoiceRow,
  now: number,
  all = false,
): Promise<InvoiceRow> {
  const open = BigInt(invoice.amount_due - invoice.amount_paid);
  const rest = all ? open : open - collectable(open, chargeLimits(invoice.currency));
  if (rest <= 0n || invoice.customer_id === null) return invoice;
  await leave(tx, invoice, rest, now);
  const change: InvoiceChange = {
    amount_due: invoice.amount_due - Number(rest),
    carried_amount: invoice.carried_amount - Number(rest),
  };
  await invoiceStore(tx.sql).change(invoice, change, now);
  return { ...invoice, ...change };
}

/**
 * When an invoice is collected of which an amount stays to be paid: at once where nobody can pay it, because it is less than the provider
 * takes. Then the next invoice collects it.
 */
export const attemptAtRest = (
  { chargeLimits }: Limits,
  { currency }: Pick<InvoiceRow, 'currency'>,
  rest: bigint,
  now: number,
): Pick<InvoiceChange, 'next_attempt_at'> =>
  collectable(rest, chargeLimits(currency)) === 0n ? { next_attempt_at: momentText(now) } : {};

/** Undoes what a voided invoice has carried. What a later invoice has collected of it meanwhile becomes credit. */
export async function undoCarrying(tx: Tx, invoice: InvoiceRow, now: number): Promise<void> {
  const { tenant_id, customer_id: customerId } = invoice;
  const carried = BigInt(invoice.carried_amount);
  if (customerId === null || carried === 0n) return;
  const left = await balanceStore(tx.sql).carried(tenant_id, customerId);
  const change = carried < -left ? -left : carried;
  await leave(tx, invoice, change, now);
  const cause = { reason: `${invoice.number} voided`, invoiceId: invoice.id };
  if (change !== carried)
    await changeBalance(tx, { tenant_id, customerId, amount: carried - change, cause }, now);
}

async function leave(tx: Tx, invoice: Carrying, amount: bigint, now: number): Promise<void> {
  const { tenant_id, id, customer_id: customerId } = invoice;
  if (amount === 0n || customerId === null) return;
  const reason = amount > 0n ? 'left to the next invoice' : 'left by earlier invoices';
  await carry(tx, { tenant_id, customerId, amount, cause: { reason, invoiceId: id } }, now);
}
