/** Answers that Prism cannot serve: it sends an event stream as one text, and fails on bytes. */
import { gzipSync } from 'node:zlib';
import { encode } from '../../http/events.ts';
import { Invalid } from '../../lib/errors.ts';
import { exampleOf, exampleOfMedia, operationOf, type Document } from '../contract/document.ts';

/**
 * Returns the text of a stream that tells one story: the example of the whole stream if that has several events, otherwise one
 * event of each documented kind, in the documented order. With `last`, the stream ends at that event, which replaces the last
 * event if it does not occur.
 */
export function eventStream(document: Document, id: string, last?: string): string {
  const documented = operationOf(document, id)['x-events'] ?? {};
  if (last !== undefined && !(last in documented)) throw Invalid(`Prefer: there is no example ${last}`);
  const exampleEvent = (event: string): Told => ({ event, data: exampleOf(document, documented[event]!) });
  const told = storyOf(document, id) ?? Object.keys(documented).map(exampleEvent);
  return endingWith(told, last, exampleEvent)
    .map(({ event, data }, index) => encode({ event, id: String(index + 1), data }))
    .join('');
}

interface Told {
  readonly event: string;
  readonly data: unknown;
}

/** Returns the events in the example of the whole stream, or undefined when that shows only the form of a single event. */
function storyOf(document: Document, id: string): Told[] | undefined {
  const media = operationOf(document, id).responses['200']?.content?.['text/event-stream'];
  const text = media && exampleOfMedia(document, media);
  if (typeof text !== 'string') return undefined;
  const events = text
    .split('\n\n')
    .map((block) => /^event: (?<event>.*)\n(?:id: .*\n)?data: (?<data>.*)$/.exec(block)?.groups)
    .flatMap((parts) =>
      parts ? [{ event: parts['event'] ?? '', data: JSON.parse(parts['data'] ?? 'null') as unknown }] : [],
    );
  return events.length > 1 ? events : undefined;
}

function endingWith(told: readonly Told[], last: string | undefined, example: (event: string) => Told) {
  if (last === undefined) return told;
  const place = told.findIndex(({ event }) => event === last);
  return place < 0 ? [...told.slice(0, -1), example(last)] : told.slice(0, place + 1);
}

/** Returns the example of a body of any other content type, or a small body that programs can open when the contract gives none. */
export function plainBody(document: Document, id: string, status: number, contentType: string): Uint8Array {
  const media = operationOf(document, id).responses[status]?.content?.[contentType];
  const example = media && exampleOfMedia(document, media);
  if (typeof example === 'string') return Buffer.from(example);
  const text = `example of ${id}\n`;
  if (contentType === 'application/gzip') return gzipSync(text);
  return Buffer.from(contentType === 'application/pdf' ? pdf(text.trim()) : text);
}

/** Builds a PDF page with one line of text. Viewers rebuild the omitted cross-reference table. */
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
