import type { Invoice } from '../../../../../../generated/billing/types.ts';
import { moneyText } from '../../../money/money.ts';
import { difference } from './amounts.ts';
import { dayOf } from './days.ts';

/** How the status is shown. */
export interface Standing {
  readonly word: string;
  readonly tone: 'neutral' | 'open' | 'good' | 'bad';
  /** Written across every page, so that nobody takes the file for an invoice to pay. */
  readonly mark: 'DRAFT' | 'VOID' | null;
}

/** What the reader wants to know first. */
export interface Headline {
  readonly amount: string;
  readonly remark: string;
}

const standings: Readonly<Record<Invoice['status'], Standing>> = {
  draft: { word: 'Draft', tone: 'neutral', mark: 'DRAFT' },
  pending: { word: 'Open', tone: 'open', mark: null },
  paid: { word: 'Paid', tone: 'good', mark: null },
  past_due: { word: 'Past due', tone: 'bad', mark: null },
  voided: { word: 'Void', tone: 'neutral', mark: 'VOID' },
};

export const standingOf = ({ status }: Pick<Invoice, 'status'>): Standing => standings[status];

/** The amount that matters in the status of the invoice, and what to do about it. */
export function headlineOf(invoice: Invoice): Headline {
  const { status, total, amount_due, amount_paid, currency, due_date, paid_at, voided_at } = invoice;
  const open = moneyText(difference(amount_due, amount_paid), currency);
  if (status === 'voided')
    return { amount: total.display, remark: `void${on(voided_at, ' since')}: nothing to pay` };
  if (status === 'draft') return { amount: amount_due.display, remark: 'draft: not final yet' };
  if (total.amount < 0) return { amount: total.display, remark: 'credit: nothing to pay' };
  if (status === 'paid') return { amount: amount_due.display, remark: `paid${on(paid_at, ' on')}` };
  if (status === 'past_due') return { amount: open, remark: `was due${on(due_date, ' on')}` };
  return { amount: open, remark: `due${on(due_date, ' on')}` };
}

const on = (timestamp: string | null, word: string): string =>
  timestamp === null ? '' : `${word} ${dayOf(timestamp)}`;
