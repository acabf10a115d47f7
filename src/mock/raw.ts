/** Answers that Prism cannot serve: it sends an event stream as one text, and fails on bytes. */
import { encode } from '../http/events.ts';
import { exampleOf, operationOf, type Document } from './document.ts';

/** One event of each documented kind, with the example of its schema; then the stream ends. */
export function eventStream(document: Document, id: string): string {
  const events = Object.entries(operationOf(document, id)['x-events'] ?? {});
  return events
    .map(([event, schema], index) =>
      encode({ event, id: String(index + 1), data: exampleOf(document, schema) }),
    )
    .join('');
}

/** The example of a body of any other content type, or its name where the contract gives none. */
export function plainBody(document: Document, id: string, contentType: string): Uint8Array {
  for (const { content } of Object.values(operationOf(document, id).responses)) {
    const media = content?.[contentType];
    if (!media) continue;
    const example =
      Object.values(media.examples ?? {})[0]?.value ?? (media.schema && exampleOf(document, media.schema));
    if (typeof example === 'string') return Buffer.from(example);
  }
  return Buffer.from(`example of ${contentType}\n`);
}
