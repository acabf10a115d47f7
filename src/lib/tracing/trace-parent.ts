import type { SpanContext } from '@opentelemetry/api';

/** A `traceparent` header: version, trace, span and flags. Ids of all zeros and the version ff are invalid. */
const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})(?<traceId>[0-9a-f]{32})-(?!0{16})(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?:-|$)/;

/** Reads the header `traceparent` of W3C Trace Context; undefined when it names no trace. */
export function traceParent(header: string | string[] | undefined): SpanContext | undefined {
  if (typeof header !== 'string') return undefined;
  const { traceId, spanId, flags } = form.exec(header)?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
