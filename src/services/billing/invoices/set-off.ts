import { changeBalance } from '../customers/balance.ts';
import type { Deps } from '../deps.ts';
import type { Write } from '../writes.ts';
import type { PayerRow } from './account.store.ts';
import type { Billed } from './account.ts';
import { attemptAtRest } from './carrying.ts';
import type { Return } from './credits.ts';
import { type InvoiceChange, invoiceStore, type InvoiceRow } from './invoices.store.ts';

/** What an invoice gives its customer, and for charges of which invoices. */
interface Given {
  readonly amount: bigint;
  readonly returns: readonly Pick<Return, 'invoiceId' | 'total'>[];
}

interface Open {
  readonly id: string;
  readonly due: bigint;
}

/**
 * The credit of a subscription pays first what is still to be paid of it: otherwise it could pay for something else, while the charges that
 * it gives back are never paid. The collection finds the invoices that it covers.
 */
export async function setOff(
  write: Pick<Write, 'sql' | 'emit'>,
  deps: Pick<Deps, 'clock' | 'chargeLimits'>,
  billed: Billed,
  payer: PayerRow,
  given: Given,
): Promise<void> {
  const [store, now] = [invoiceStore(write.sql), deps.clock.now()];
  const open = (await store.lockOpen(billed, payer.id)).map((invoice) => ({
    ...{ id: invoice.id, invoice, due: dueOf(invoice) },
  }));
  const uses = usesOf(open, given);
  for (const { invoice, due } of open) {
    const used = uses.get(invoice.id) ?? 0n;
    if (used === 0n) continue;
    const change: InvoiceChange = {
      credit_applied: invoice.credit_applied + Number(used),
      set_off_amount: invoice.set_off_amount + Number(used),
      amount_due: invoice.amount_due - Number(used),
      ...attemptAtRest(deps, invoice, due - used, now),
    };
    await store.change(invoice, change, now);
    const cause = { invoiceId: invoice.id };
    const balance = { tenant_id: billed.tenant_id, customerId: payer.id, amount: used, cause };
    await changeBalance(write, balance, now);
  }
}

const dueOf = ({ amount_due, amount_paid }: InvoiceRow): bigint => BigInt(amount_due - amount_paid);

/**
 * What of the credit pays for which open invoice: first for the charges that it gives back, so that nothing of it is left when these are
 * written off, and then for the oldest ones.
 */
export function usesOf(open: readonly Open[], { amount, returns }: Given): Map<string, bigint> {
  const uses = new Map<string, bigint>();
  let left = amount;
  const use = ({ id, due }: Open, most: bigint) => {
    const before = uses.get(id) ?? 0n;
    const used = [due - before, most, left].reduce((least, one) => (one < least ? one : least));
    if (used <= 0n) return;
    left -= used;
    uses.set(id, before + used);
  };
  for (const { invoiceId, total } of returns)
    for (const one of open) if (one.id === invoiceId) use(one, total);
  for (const one of open) use(one, left);
  return uses;
}
