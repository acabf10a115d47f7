/** The examples of the contract: what a request of an operation looks like, and what it is answered. */
import type { Operation, ServiceName } from '../generated/operations.ts';
import { documented, resolve, type MediaType, type Schema } from './contract.ts';

/** The example of a schema, put together from those of its parts where it has none of its own. */
export function exampleOf(service: ServiceName, reference: Schema): unknown {
  const schema = resolve(service, reference);
  // The nearest one: a model made from another one has that one's examples before its own.
  const given = reference.examples?.at(-1) ?? schema.examples?.at(-1) ?? schema['const'] ?? schema['default'];
  if (given !== undefined) return given;
  const { items, enum: choices } = schema as { items?: Schema; enum?: unknown[] };
  return items === undefined ? choices?.[0] : [exampleOf(service, items)];
}

/** The example of a body; undefined for bytes, of which there is none. */
export const bodyExample = (service: ServiceName, { example, schema }: MediaType): unknown =>
  example ?? (schema && exampleOf(service, schema));

/** The example of the JSON answer with this status; undefined where it is no JSON. */
export function answerExample(operation: Operation, status: number): unknown {
  const media = documented(operation).entry.responses[status]?.content?.['application/json'];
  return media && bodyExample(operation.service, media);
}

/** The form in which a request body goes over the wire, and its example. */
export function requestExample(operation: Operation): { contentType: string; value: unknown } | undefined {
  const content = documented(operation).entry.requestBody?.content;
  const [contentType, media] = Object.entries(content ?? {})[0] ?? [];
  return contentType === undefined || !media
    ? undefined
    : { contentType, value: bodyExample(operation.service, media) };
}
