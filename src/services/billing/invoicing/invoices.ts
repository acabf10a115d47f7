import type { Invoices } from '../../../../generated/billing/server.ts';
import type { Invoice } from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { InvalidState, InvoiceNotFound, Refused } from '../errors.ts';
import { draft } from '../invoices/drafts.ts';
import { finalize } from '../invoices/finalizing.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import { lockInvoice } from '../invoices/open-invoice.ts';
import { currencyOf } from '../lifecycle/endings.ts';
import { lockCurrent } from '../lifecycle/renewals.ts';
import { repeatedly } from '../lifecycle/repetition.ts';
import { checkMetadata } from '../metadata.ts';
import { instantOf } from '../moments.ts';
import { pageOf } from '../pages.ts';
import { pay } from './paying.ts';
import { voidInvoice } from './voiding.ts';

/** Invoices: what subscriptions owe, from the draft to the payment. */
export function invoices(deps: Deps) {
  const { db, clock, write } = deps;
  const shown = async (row: InvoiceRow): Promise<Invoice> =>
    invoiceOf(row, await invoiceStore(db.sql).lines(row));
  return {
    async create({ body }, context) {
      checkMetadata(body.metadata);
      const made = await repeatedly(() =>
        write(context, async (tx) => {
          const subscription = await lockCurrent(tx, deps, viewOf(context), body.subscription_id);
          if (subscription.status === 'paused') throw InvalidState('subscription is paused');
          return await draft(tx, deps, subscription, {
            ...{ origin: 'manual', asOf: clock.now(), withRunning: true, finalizeAt: null },
            currency: await currencyOf(tx, deps, subscription),
            period: {
              start: Date.parse(subscription.current_period_start),
              end: Date.parse(subscription.current_period_end),
            },
            metadata: body.metadata,
          });
        }),
      );
      return await shown(made);
    },

    async list({ tenant_id, limit, offset, start, end, ...filter }, context) {
      const times = { start: instantOf(start, 'start'), end: instantOf(end, 'end') };
      const page = { limit, offset };
      const found = await invoiceStore(db.sql).list(
        viewOf(context, tenant_id),
        { ...filter, ...times },
        page,
      );
      return pageOf(page, found, (row) => invoiceOf(row, []));
    },

    async get({ invoice: ref }, context) {
      const row = await invoiceStore(db.sql).find(viewOf(context), ref);
      if (row === undefined) throw InvoiceNotFound();
      return await shown(row);
    },

    async finalize({ invoice: ref }, context) {
      const final = await write(context, async (tx) => {
        const { invoice, subscription } = await lockInvoice(tx, viewOf(context), ref);
        if (invoice.status === 'voided') throw Refused('invoice_finalized', 'invoice is voided');
        return invoice.status === 'draft' ? await finalize(tx, deps, subscription, invoice) : invoice;
      });
      return await shown(final);
    },

    async void({ invoice: ref, body = { reason: null, rebill: false } }, context) {
      const after = await write(context, async (tx) =>
        voidInvoice(tx, deps, await lockInvoice(tx, viewOf(context), ref), body),
      );
      return await shown(after);
    },

    async pay({ invoice: ref, body = { payment_ref: null } }, context) {
      const now = clock.now();
      const paidAt = body.paid_at === undefined ? now : Date.parse(body.paid_at);
      if (paidAt > now + mostAheadMs) throw Invalid('paid_at: must be at most 5 minutes in the future');
      const after = await write(context, async (tx) =>
        pay(tx, deps, await lockInvoice(tx, viewOf(context), ref), {
          ...{ reference: body.payment_ref, paidAt, isNow: body.paid_at === undefined },
        }),
      );
      return await shown(after);
    },
  } satisfies Omit<Invoices<Context>, 'pdf'>;
}

/** How far ahead of the server a caller's clock may be. */
const mostAheadMs = 5 * 60_000;
