import type { Logger } from 'pino';
import { Internal, type DomainError } from '../lib/errors.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';
import type { Outgoing } from './respond.ts';
import { asDomainError, statusOf } from './status.ts';

/** Encodes errors to the documented shape of a service. */
export interface Envelope {
  /** `operation` is the id of the one that failed, where it is known. */
  encodeError(error: DomainError, status: number, operation?: string): unknown;
  /** The error as people are told it, for operations that document pages. */
  errorPage?(error: DomainError, status: number): ErrorPage;
}

/** A page that says what is wrong, with the headers that it needs. */
export interface ErrorPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The envelope of paths that belong to no service. */
export const plainEnvelope: Envelope = { encodeError: ({ message }) => ({ error: message }) };

/**
 * The response to whatever was thrown, in the envelope of the service. Its cause goes to the log under the request id;
 * the text of a 5xx says nothing of it.
 */
export function failure(thrown: unknown, envelope: Envelope, exchange: Exchange, log: Logger): Outgoing {
  const error = documented(asDomainError(thrown), exchange.operation);
  const status = statusOf[error.kind];
  if (status >= 500 || error.cause !== undefined) logCause(error, status, exchange, log);
  const page = isPage(exchange.operation, status) ? envelope.errorPage?.(error, status) : undefined;
  if (page) {
    const headers = { ...headersOf(error), ...page.headers };
    return { status, contentType: 'text/html; charset=utf-8', headers, body: page.body };
  }
  return {
    status,
    contentType: 'application/json',
    headers: headersOf(error),
    body: JSON.stringify(envelope.encodeError(error, status, exchange.operation?.id)),
  };
}

const isPage = (operation: Operation | undefined, status: number): boolean =>
  operation?.responses.some(
    (response) => response.status === status && response.contentTypes.includes('text/html'),
  ) ?? false;

/** A store that is away is a 500 where the operation's contract has no 503 for it. */
function documented(error: DomainError, operation: Operation | undefined): DomainError {
  const known = operation?.responses.some(({ status }) => status === statusOf[error.kind]) ?? true;
  return error.kind === 'unavailable' && !known ? Internal(error.cause ?? error) : error;
}

function logCause(error: DomainError, status: number, { requestId, operation }: Exchange, log: Logger): void {
  const level = status === 500 ? 'error' : 'warn';
  const line = {
    requestId,
    service: operation?.service,
    operation: operation?.id,
    err: error.cause ?? error,
  };
  log[level](line, error.message);
}

function headersOf({ kind, retryAfter }: DomainError): Record<string, string> | undefined {
  if (retryAfter !== undefined) return { 'Retry-After': String(Math.ceil(retryAfter)) };
  if (kind === 'unauthenticated') return { 'WWW-Authenticate': 'Bearer' };
  return undefined;
}
