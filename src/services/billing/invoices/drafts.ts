import type { InvoiceOrigin, Metadata } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { Refused } from '../errors.ts';
import type { Stretch } from '../periods/calendar.ts';
import type { Write } from '../writes.ts';
import { computed, type Billed, type Computed, type Scope } from './account.ts';
import { hasInexpressibleAmount } from './figures.ts';
import { invoiceOf, storedFigures } from './invoice.ts';
import { invoiceStore, type InvoiceRow } from './invoices.store.ts';

/** What a draft is made of besides its charges. */
export interface DraftTerms extends Scope {
  readonly origin: InvoiceOrigin;
  readonly currency: string;
  readonly period: Stretch;
  /** When it becomes final by itself, in milliseconds since 1970; null when somebody has to ask. */
  readonly finalizeAt: number | null;
  readonly metadata: Metadata;
}

/** The charges of an invoice that is made or computed again: those of a renewal are of the periods that had ended with it. */
export const scopeOf = (
  { id, origin, period_end }: Pick<InvoiceRow, 'id' | 'origin' | 'period_end'>,
  now: number,
): Scope => {
  const draft = { id, isManual: origin === 'manual' };
  return origin === 'renewal'
    ? { asOf: Date.parse(period_end), withRunning: false, draft }
    : { asOf: now, withRunning: origin === 'manual', draft };
};

/** A draft that is about to be made. */
const newDraft = ({ origin }: DraftTerms) => ({ id: null, isManual: origin === 'manual' });

/** Makes a draft of a subscription whose row is locked. */
export async function draft(
  { sql, emit }: Pick<Write, 'sql' | 'emit'>,
  { revisions, clock }: Pick<Deps, 'revisions' | 'clock'>,
  billed: Billed,
  terms: DraftTerms,
): Promise<InvoiceRow> {
  const result = await computed(sql, { revisions }, billed, {
    ...terms,
    draft: newDraft(terms),
    lock: false,
  });
  return await stored({ sql, emit }, clock.now(), billed, terms, result);
}

/**
 * Makes a draft of the periods that have ended, unless nothing in it costs anything. An amount that no invoice can show stays owed until
 * the use behind it is corrected: it must not keep the subscription from going on, or from ending.
 */
export async function draftUnlessFree(
  { sql, emit }: Pick<Write, 'sql' | 'emit'>,
  { revisions, clock, log }: Pick<Deps, 'revisions' | 'clock' | 'log'>,
  billed: Billed,
  terms: DraftTerms,
): Promise<InvoiceRow | undefined> {
  const result = await computed(sql, { revisions }, billed, {
    ...terms,
    draft: newDraft(terms),
    lock: false,
  });
  if (result.lines.every(({ amount }) => amount === 0n)) return undefined;
  if (isTooLarge(result)) {
    log.error({ subscription: billed.id }, 'a period owes an amount that is too large for an invoice');
    return undefined;
  }
  const made = await stored({ sql, emit }, clock.now(), billed, terms, result);
  await leaveTo(sql, { revisions, clock }, billed, made);
  return made;
}

/** The most drafts that are computed again when another one takes their charges. */
const mostLeft = 50;

/** Drafts that somebody asked for leave to one that nobody asked for what it shows, because that one becomes final by itself. */
async function leaveTo(
  sql: Sql,
  { revisions, clock }: Pick<Deps, 'revisions' | 'clock'>,
  billed: Billed,
  made: InvoiceRow,
): Promise<void> {
  const now = clock.now();
  for (const draft of await invoiceStore(sql).lockManualDrafts(made, mostLeft)) {
    const scope = { ...scopeOf(draft, now), currency: draft.currency, lock: false };
    const result = await computed(sql, { revisions }, billed, scope);
    if (isTooLarge(result)) continue;
    await invoiceStore(sql).change(draft, storedFigures(result), now);
    await invoiceStore(sql).replaceLines(draft, result.lines);
  }
}

/** @throws Refused `invoice_incomplete` for an amount beyond what JSON represents exactly */
export function checkSize(result: Computed): void {
  if (isTooLarge(result)) throw Refused('invoice_incomplete', 'invoice has an amount that is too large');
}

const isTooLarge = ({ lines, figures }: Computed): boolean =>
  hasInexpressibleAmount(
    lines.map(({ amount }) => amount),
    figures,
  );

async function stored(
  { sql, emit }: Pick<Write, 'sql' | 'emit'>,
  now: number,
  { tenant_id, id, app_id }: Billed,
  { origin, currency, period, finalizeAt, metadata }: DraftTerms,
  result: Computed,
): Promise<InvoiceRow> {
  checkSize(result);
  const row: InvoiceRow = {
    tenant_id,
    id: newId('inv', now),
    app_id,
    number: null,
    subscription_id: id,
    status: 'draft',
    origin,
    currency,
    ...storedFigures(result),
    amount_paid: 0,
    set_off_amount: 0,
    bill_to: null,
    period_start: momentText(period.start),
    period_end: momentText(period.end),
    due_date: null,
    finalized_at: null,
    paid_at: null,
    voided_at: null,
    void_reason: null,
    payment_ref: null,
    attempt_count: 0,
    next_attempt_at: null,
    auto_finalize_at: finalizeAt === null ? null : momentText(finalizeAt),
    metadata,
    created_at: momentText(now),
    updated_at: momentText(now),
  };
  await invoiceStore(sql).insert(row);
  await invoiceStore(sql).replaceLines(row, result.lines);
  emit('billing.invoice.created', row, invoiceOf(row, []));
  return row;
}
