import type { BillTo, Invoice } from '../../../../../generated/billing/types.ts';
import { boundedQueue, type QueueLoad } from '../../../../lib/bounded-queue.ts';
import { Unavailable } from '../../../../lib/errors.ts';
import type { Settings } from '../../settings.ts';
import { invoiceText } from './content/invoice-text.ts';
import { type Faces, loadFaces } from './fonts/faces.ts';
import { invoicePdf } from './invoice-pdf.ts';

export interface InvoicePdfs {
  /**
   * Makes the file of an invoice when its turn comes.
   * @param payer who would be billed, for drafts
   * @throws Unavailable if too many already wait
   */
  make(invoice: Invoice, payer: BillTo | null, signal: AbortSignal): Promise<Uint8Array>;
  readonly load: () => QueueLoad;
}

/** Files are made between other work, so that more at once would only make all of them late. */
const mostAtOnce = 2;
const mostWaiting = 32;

const Busy = () => Unavailable('too many PDF files are requested: try again in a second');

/** The files of invoices. The fonts are loaded for the first one. */
export function createInvoicePdfs({ seller, pdfFont }: Pick<Settings, 'seller' | 'pdfFont'>): InvoicePdfs {
  const queue = boundedQueue(mostAtOnce, mostWaiting, Busy);
  let faces: Promise<Faces> | undefined;
  const loaded = () =>
    (faces ??= loadFaces(pdfFont).catch((error: unknown) => {
      // The next file tries again.
      faces = undefined;
      throw error;
    }));
  return {
    load: queue.load,
    make: (invoice, payer, signal) =>
      queue.run(
        async () =>
          invoicePdf(invoiceText(invoice, seller, payer), await loaded(), {
            createdAt: new Date(invoice.finalized_at ?? invoice.updated_at),
          }),
        signal,
      ),
  };
}
