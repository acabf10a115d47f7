import type { Invoices } from '../../../../generated/billing/server.ts';
import type { BillTo } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { NotImplemented } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { InvoiceNotFound } from '../errors.ts';
import { accountStore } from '../invoices/account.store.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import type { InvoicePdfs } from './pdf/invoice-pdfs.ts';

/** Invoices as files. */
export function invoiceFiles({ db, settings }: Pick<Deps, 'db' | 'settings'>, pdfs: InvoicePdfs) {
  return {
    async pdf({ invoice: ref }, context) {
      if (settings.pdf === 'off') throw NotImplemented('PDF is switched off');
      const row = await invoiceStore(db.sql).find(viewOf(context), ref);
      if (row === undefined) throw InvoiceNotFound();
      const [lines, payer] = await Promise.all([invoiceStore(db.sql).lines(row), payerOf(db.sql, row)]);
      context.reply.header('Content-Disposition', `inline; filename="${row.number ?? row.id}.pdf"`);
      return await context.rest(() => pdfs.make(invoiceOf(row, lines), payer, context.signal));
    },
  } satisfies Pick<Invoices<Context>, 'pdf'>;
}

/** Who would be billed for a draft. */
async function payerOf(sql: Sql, invoice: InvoiceRow): Promise<BillTo | null> {
  const { status, customer_id, currency } = invoice;
  if (status !== 'draft' || customer_id === null) return null;
  const payer = await accountStore(sql).payer(invoice, { customerId: customer_id, currency, lock: false });
  if (payer === undefined || payer.isErased) return null;
  const { name, email, billing_address, tax_ids } = payer;
  return { name, email, billing_address, tax_ids };
}
