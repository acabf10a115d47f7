import type { ServerResponse } from 'node:http';
import { type Span, SpanStatusCode } from '@opentelemetry/api';
import type { Exchange } from './exchange.ts';

/**
 * Ends the span of a request whose response is sent or whose client has disconnected. It carries what the log carries, by the names of
 * OpenTelemetry's conventions: no path with its values, no query, no address of the caller.
 */
export function endRequestSpan(span: Span, res: ServerResponse, exchange: Exchange): void {
  const { operation, caller, requestId } = exchange;
  if (operation !== undefined) {
    const { service, resource, method, verb, path } = operation;
    span.updateName(`${verb.toUpperCase()} ${path}`).setAttributes({
      'http.route': path,
      'plinth.operation': `${service}.${resource}.${method}`,
    });
  }
  if (caller?.tenant !== undefined) span.setAttribute('plinth.tenant', caller.tenant);
  span.setAttributes({ 'http.response.status_code': res.statusCode, 'plinth.request_id': requestId });
  if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  if (!res.writableFinished && res.statusCode !== 101) span.setAttribute('error.type', 'aborted');
  span.end();
}
