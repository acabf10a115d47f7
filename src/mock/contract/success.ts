import type { Operation } from '../../../generated/operations.ts';
import { exampleOfMedia, operationOf, type Document } from './document.ts';

/**
 * Returns the successful answer of an operation, by default the one with the lowest status: its schema, its nearest example,
 * and its own example.
 */
export function successOf(document: Document, { id, responses }: Operation, status?: number) {
  const first = status ?? Math.min(...responses.map((response) => response.status));
  const media = operationOf(document, id).responses[first]?.content?.['application/json'];
  return {
    status: first,
    schema: media?.schema,
    example: media && exampleOfMedia(document, media),
    own: media?.example,
  };
}
