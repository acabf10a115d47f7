import type { UpcomingInvoice } from '../../../../generated/billing/types.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import { InvalidState } from '../errors.ts';
import { computed } from '../invoices/account.ts';
import { checkSize } from '../invoices/drafts.ts';
import { lineRowOf, storedFigures, upcomingOf } from '../invoices/invoice.ts';
import type { ListedSubscription } from '../subscriptions/subscriptions.store.ts';
import { isEntitling } from '../subscriptions/states.ts';
import type { Write } from '../writes.ts';
import { currencyOf } from './endings.ts';
import type { LifecycleDeps } from './renewals.ts';

/** The next invoice of a subscription, as it stands now. */
export async function upcoming(
  tx: Pick<Write, 'sql'>,
  deps: LifecycleDeps,
  row: ListedSubscription,
): Promise<UpcomingInvoice> {
  if (!isEntitling(row.status)) throw InvalidState(`subscription is ${row.status}`);
  const now = deps.clock.now();
  const currency = await currencyOf(tx, deps, row);
  const draft = { id: null, isManual: false };
  const result = await computed(tx.sql, deps, row, {
    asOf: now,
    withRunning: true,
    draft,
    currency,
    lock: false,
  });
  checkSize(result);
  const invoice = {
    tenant_id: row.tenant_id,
    id: '',
    app_id: row.app_id,
    number: null,
    subscription_id: row.id,
    status: 'draft',
    origin: 'renewal',
    currency,
    ...storedFigures(result),
    amount_paid: 0,
    set_off_amount: 0,
    bill_to: null,
    period_start: row.current_period_start,
    period_end: row.current_period_end,
    due_date: null,
    finalized_at: null,
    paid_at: null,
    voided_at: null,
    void_reason: null,
    payment_ref: null,
    attempt_count: 0,
    next_attempt_at: null,
    auto_finalize_at: null,
    metadata: {},
    created_at: momentText(now),
    updated_at: momentText(now),
  } as const;
  const lines = result.lines.map((line) => lineRowOf(line, newId('li')));
  return upcomingOf(invoice, lines);
}
