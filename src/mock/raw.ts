/** Answers that Prism cannot serve: it sends an event stream as one text, and fails on bytes. */
import { gzipSync } from 'node:zlib';
import { encode } from '../http/events.ts';
import { exampleOf, exampleOfMedia, operationOf, type Document } from './document.ts';

/** One event of each documented kind, with the example of its schema; then the stream ends. */
export function eventStream(document: Document, id: string): string {
  const events = Object.entries(operationOf(document, id)['x-events'] ?? {});
  return events
    .map(([event, schema], index) =>
      encode({ event, id: String(index + 1), data: exampleOf(document, schema) }),
    )
    .join('');
}

/** The example of a body of any other content type; where the contract gives none, a small one that programs can open. */
export function plainBody(document: Document, id: string, status: number, contentType: string): Uint8Array {
  const media = operationOf(document, id).responses[status]?.content?.[contentType];
  const example = media && exampleOfMedia(document, media);
  if (typeof example === 'string') return Buffer.from(example);
  const text = `example of ${id}\n`;
  if (contentType === 'application/gzip') return gzipSync(text);
  return Buffer.from(contentType === 'application/pdf' ? pdf(text.trim()) : text);
}

/** A page of PDF with one line on it. Viewers rebuild the table of places that is left out. */
function pdf(line: string): string {
  const content = `BT /F1 18 Tf 72 720 Td (${line}) Tj ET`;
  return [
    '%PDF-1.4',
    '1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj',
    '2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj',
    '3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R',
    '  /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj',
    `4 0 obj << /Length ${content.length} >> stream`,
    content,
    'endstream endobj',
    'trailer << /Root 1 0 R >>',
    '%%EOF\n',
  ].join('\n');
}
