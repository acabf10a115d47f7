import type { BillTo } from '../../../../generated/billing/types.ts';
import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { changeBalance } from '../customers/balance.ts';
import { Refused } from '../errors.ts';
import type { Write } from '../writes.ts';
import { accountStore, type PayerRow } from './account.store.ts';
import { computed, type Billed, type Computed } from './account.ts';
import { carriedBy } from './carrying.ts';
import { scopeOf } from './drafts.ts';
import { hasInexpressibleAmount, incompleteness } from './figures.ts';
import { invoiceOf, storedFigures } from './invoice.ts';
import { type InvoiceChange, invoiceStore, type InvoiceRow } from './invoices.store.ts';
import { invoiceNumber, numberingYear } from './numbers.ts';
import { setOff } from './set-off.ts';
import { settled, type Settlements } from './settlement.ts';
import { settlementStore } from './settlements.store.ts';

type FinalizingDeps = Pick<Deps, 'revisions' | 'clock' | 'settings' | 'chargeLimits'>;

/**
 * Makes a draft final: it is computed once more, its charges are settled, and its payer's credit is used. The rows of its subscription
 * and of the draft are locked.
 * @param despite whether it was paid already, so that nobody minds what is missing, or is final without a tax that is not known
 * @throws Refused `invoice_incomplete`
 */
export async function finalize(
  write: Pick<Write, 'sql' | 'emit'>,
  deps: FinalizingDeps,
  billed: Billed,
  invoice: InvoiceRow,
  despite: 'paid' | 'unknownTax' | undefined = undefined,
): Promise<InvoiceRow> {
  const { sql, emit } = write;
  const now = deps.clock.now();
  const { currency } = invoice;
  const result = await computed(sql, deps, billed, { ...scopeOf(invoice, now), currency, lock: true });
  const { lines, figures, terms, payer } = result;
  const amounts = lines.map(({ amount }) => amount);
  const missing = incompleteness(amounts, figures, terms);
  if (missing !== undefined && (despite !== 'paid' || hasInexpressibleAmount(amounts, figures)))
    throw Refused('invoice_incomplete', missing);
  if (figures.taxStatus === 'incomplete_address' && despite === undefined)
    throw Refused('invoice_incomplete', 'customer has no country, so that its tax is not known');
  await settle(write, billed, invoice.id, result);
  if (payer !== undefined && figures.balanceChange !== 0n) {
    const { tenant_id } = billed;
    const cause = { invoiceId: invoice.id };
    await changeBalance(
      write,
      { tenant_id, customerId: payer.id, amount: figures.balanceChange, cause },
      now,
    );
  }
  // Whoever pays by other means than the provider pays all of it.
  const carried =
    despite === 'paid'
      ? 0n
      : await carriedBy(write, deps, { ...invoice, customer_id: payer?.id ?? null }, figures.amountDue, now);
  const due = figures.amountDue + carried;
  const change: InvoiceChange = {
    ...storedFigures(result),
    carried_amount: Number(carried),
    amount_due: Number(due),
    // Drafts of former versions have numbers, which must not be missing in the sequence.
    number: invoice.number ?? (await nextNumber(write, invoice.app_id, now)),
    status: 'pending',
    bill_to: billToOf(payer),
    finalized_at: momentText(now),
    due_date: momentText(now + deps.settings.paymentTermsMs),
    // Whoever asks for an invoice collects it, unless there is nothing to collect.
    next_attempt_at: invoice.origin === 'manual' && due > 0n ? null : momentText(now),
    auto_finalize_at: null,
  };
  await invoiceStore(sql).change(invoice, change, now);
  await invoiceStore(sql).replaceLines(invoice, lines);
  if (payer !== undefined && figures.total < 0n)
    await setOff(write, deps, billed, payer, { amount: -figures.total, returns: result.returns });
  const final = { ...invoice, ...change, updated_at: momentText(now) } as InvoiceRow;
  emit('billing.invoice.finalized', final, invoiceOf(final, []));
  return final;
}

/** What other drafts show is not settled by this invoice. */
function exceptShown(after: Settlements, shown: Computed['shown']): Settlements {
  const all = new Map(after);
  for (const [name, amount] of shown) {
    const settlement = after.get(name);
    if (settlement !== undefined) all.set(name, { ...settlement, amount: settlement.amount - amount });
  }
  return all;
}

async function nextNumber({ sql }: Pick<Write, 'sql'>, app: string, now: number): Promise<string> {
  const year = numberingYear(now);
  return invoiceNumber(year, await invoiceStore(sql).nextSequence(app, year));
}

/** Notes what the invoice bills, and which coupons it uses. */
async function settle(
  { sql }: Pick<Write, 'sql'>,
  billed: Billed,
  invoiceId: string,
  { lines, owed, settlements, figures, shown }: Computed,
): Promise<void> {
  await settlementStore(sql).replace(
    billed,
    lines.map(({ key }) => key),
    exceptShown(settled(settlements, lines, owed), shown),
  );
  await accountStore(sql).use(billed, invoiceId, figures.periodDiscounts);
}

const billToOf = (payer: PayerRow | undefined): BillTo | null =>
  payer === undefined || payer.isErased
    ? null
    : {
        name: payer.name,
        email: payer.email,
        billing_address: payer.billing_address,
        tax_ids: payer.tax_ids,
      };
