/** The file of an invoice of 100 lines against the library for PDF alone, which writes the same texts without knowing where they go. */
import { once } from 'node:events';
import PDFDocument from 'pdfkit';
import { invoiceText } from '../../src/services/billing/invoicing/pdf/content/invoice-text.ts';
import { type Faces, loadFaces } from '../../src/services/billing/invoicing/pdf/fonts/faces.ts';
import { invoicePdf } from '../../src/services/billing/invoicing/pdf/invoice-pdf.ts';
import { layOut } from '../../src/services/billing/invoicing/pdf/layout/layout.ts';
import type { Page } from '../../src/services/billing/invoicing/pdf/layout/page.ts';
import {
  sampleInvoice,
  sampleLines,
  sampleSeller,
} from '../../src/services/billing/invoicing/pdf/testing/samples.ts';
import { atLeast, type Row, round } from '../row.ts';
import { mean, paired } from '../statistics.ts';

const lines = 100;
const least = 0.8;
const filesEach = 20;

export async function* pdf(): AsyncGenerator<Row> {
  const faces = await loadFaces('');
  const text = invoiceText(sampleInvoice({ line_items: sampleLines(lines) }), sampleSeller, null);
  const pages = await layOut(
    text,
    (line, { size }) => line.length * size * 0.55,
    () => undefined,
  );
  const { ratio, a, b } = await paired(
    () => mean(filesEach, () => plainPdf(pages, faces)),
    () => mean(filesEach, () => invoicePdf(text, faces, { createdAt: new Date(0) })),
  );
  yield atLeast(ratio, least, {
    path: `invoice of ${lines} lines as PDF`,
    baseline: '`pdfkit`: the same texts at given places, with the same fonts',
    measured: `${round(b)} ms against ${round(a)} ms`,
  });
}

/** Writes the texts of pages as the documentation of the library shows it. */
async function plainPdf(pages: readonly Page[], { list }: Faces): Promise<Buffer> {
  const { regular, strong } = list[0]!.files;
  const document = new PDFDocument({ size: 'A4', margin: 0, autoFirstPage: false });
  const chunks: Uint8Array[] = [];
  document.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  const ended = once(document, 'end');
  document.registerFont('regular', regular).registerFont('strong', strong);
  for (const { items } of pages) {
    document.addPage();
    for (const item of items)
      if (item.kind === 'text')
        document
          .font(item.style.weight, item.style.size)
          .fillColor(item.style.color)
          .text(item.text, item.x, item.baseline, { baseline: 'alphabetic' });
      else if (item.kind === 'rule')
        document
          .moveTo(item.from, item.y)
          .lineTo(item.to, item.y)
          .lineWidth(item.thickness)
          .stroke(item.color);
  }
  document.end();
  await ended;
  return Buffer.concat(chunks);
}
