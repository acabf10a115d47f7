import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

/*
 * The spans of OpenTelemetry: one for each request, statement, outbound call and attempt of a job. Nothing is measured and no
 * asynchronous scope is opened unless an exporter listens. Plinth keeps the current span itself instead of registering a context
 * manager, so that a library in the same process that uses OpenTelemetry is not affected.
 */
let tracer: Tracer | undefined;
const scopes = new AsyncLocalStorage<Span | undefined>();

/** Measures with this tracer from now on; with undefined nothing is measured. */
export function measureWith(next: Tracer | undefined): void {
  tracer = next;
}

/** Begins the span of a request, as a part of the caller's trace if the caller named one. */
export function requestSpan(method: string, parent: SpanContext | undefined): Span | undefined {
  if (tracer === undefined) return undefined;
  const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  return tracer.startSpan(
    method,
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
    context,
  );
}

/** Runs work whose spans are children of this span. */
export const within = <T>(span: Span | undefined, work: () => T): T =>
  span === undefined ? work() : scopes.run(span, work);

/** Runs work that serves many requests, or none. */
export const outsideSpans = <T>(work: () => T): T =>
  tracer === undefined ? work() : scopes.run(undefined, work);

/** Begins the span of a part of what is measured now; undefined when nothing is. */
export function partSpan(name: string, attributes: Attributes): Span | undefined {
  if (tracer === undefined) return undefined;
  const parent = scopes.getStore();
  if (!parent?.isRecording()) return undefined;
  return tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, parent));
}

/** Does work under a span of its own, which begins a trace when nothing is measured around it. */
export async function measured<T>(
  name: string,
  kind: 'outbound' | 'job',
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return work(undefined);
  const parent = scopes.getStore();
  const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
  const spanKind = kind === 'outbound' ? SpanKind.CLIENT : SpanKind.CONSUMER;
  const span = tracer.startSpan(name, { kind: spanKind, attributes }, context);
  try {
    return await scopes.run(span, () => work(span));
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Records that what the span measures failed: by the error's code or type, because its message may hold personal data. */
export function markFailed(span: Span, error: unknown): void {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const type = typeof code === 'string' ? code : typeof name === 'string' ? name : 'Error';
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}
