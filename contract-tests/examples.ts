/** The contract's examples: the request of an operation, and its answers. */
import type { Operation, ServiceName } from '../generated/operations.ts';
import { documented, resolve, type MediaType, type Schema } from './contract.ts';

/** Returns the example of a schema, built from the examples of its parts if it has none itself. */
export function exampleOf(service: ServiceName, reference: Schema): unknown {
  const schema = resolve(service, reference);
  // The nearest example: a derived model lists its base model's examples before its own.
  const given = reference.examples?.at(-1) ?? schema.examples?.at(-1) ?? schema['const'] ?? schema['default'];
  if (given !== undefined) return given;
  const { items, enum: choices } = schema as { items?: Schema; enum?: unknown[] };
  return items === undefined ? choices?.[0] : [exampleOf(service, items)];
}

/** Returns the example of a body, or undefined for bytes, which have none. */
export const bodyExample = (service: ServiceName, { example, schema }: MediaType): unknown =>
  example ?? (schema && exampleOf(service, schema));

/** Returns the example of the JSON answer with this status, or undefined when it is not JSON. */
export function answerExample(operation: Operation, status: number): unknown {
  const media = documented(operation).entry.responses[status]?.content?.['application/json'];
  return media && bodyExample(operation.service, media);
}

/** Returns the content type of a request body, and its example. */
export function requestExample(operation: Operation): { contentType: string; value: unknown } | undefined {
  const content = documented(operation).entry.requestBody?.content;
  const [contentType, media] = Object.entries(content ?? {})[0] ?? [];
  return contentType === undefined || !media
    ? undefined
    : { contentType, value: bodyExample(operation.service, media) };
}
