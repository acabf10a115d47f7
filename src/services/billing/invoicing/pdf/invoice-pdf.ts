import { once } from 'node:events';
import PDFDocument from 'pdfkit';
import { foreignTexts, type InvoiceText } from './content/invoice-text.ts';
import { drawPages } from './drawing.ts';
import type { Faces } from './fonts/faces.ts';
import { layOut } from './layout/layout.ts';
import { createPause } from './pace.ts';
import { Typesetter } from './typesetter.ts';

export interface FileOptions {
  /** The creation date of the file. It does not come from a clock, so that the same invoice gives the same bytes. */
  readonly createdAt: Date;
  /** Whether the contents are compressed. */
  readonly compress?: boolean;
}

/** Makes the file of an invoice, a few milliseconds at a time. */
export async function invoicePdf(
  text: InvoiceText,
  faces: Faces,
  { createdAt, compress = true }: FileOptions,
): Promise<Uint8Array> {
  const pdf = new PDFDocument({
    ...{
      size: 'A4',
      margin: 0,
      autoFirstPage: false,
      pdfVersion: '1.4',
      lang: 'en',
      displayTitle: true,
      compress,
    },
    // The library would otherwise load a font that nothing uses.
    font: '',
    info: {
      Title: text.number === null ? 'Draft of an invoice' : `Invoice ${text.number}`,
      Creator: 'Plinth',
      Producer: 'Plinth',
      CreationDate: createdAt,
    },
  });
  const chunks: Uint8Array[] = [];
  pdf.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  const ended = once(pdf, 'end');
  // An error while the pages are laid out would otherwise have nobody who waits for it.
  ended.catch(() => {});
  const typesetter = new Typesetter(pdf, faces);
  const pause = createPause();
  const names = [text.seller.name, text.billTo?.name ?? ''];
  for (const _ of typesetter.prepare(names, 'strong')) await pause();
  for (const _ of typesetter.prepare(foreignTexts(text), 'regular')) await pause();
  const pages = await layOut(text, typesetter.widthOf, pause);
  await drawPages(pdf, typesetter, pages, text.standing, pause);
  for (const _ of typesetter.finish()) await pause();
  pdf.end();
  await ended;
  return Buffer.concat(chunks);
}
