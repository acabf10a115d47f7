import type { Logger } from 'pino';
import { DomainError, type ErrorKind } from '../lib/errors.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';
import type { Outgoing } from './respond.ts';
import { asDomainError, statusOf } from './status.ts';

/** Encodes errors in the documented shape of a service. */
export interface Envelope {
  /** `operation` is the id of the operation that failed, when it is known. */
  encodeError(error: DomainError, status: number, operation?: string): unknown;
  /** Renders the error as a page for people, for operations that document such pages. */
  errorPage?(error: DomainError, status: number): ErrorPage;
}

/** A page that describes an error, with the headers that the page needs. */
export interface ErrorPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The envelope of paths that belong to no service. */
export const plainEnvelope: Envelope = { encodeError: ({ message }) => ({ error: message }) };

/**
 * The response for any thrown value, in the envelope of the service. The cause goes to the log under the request id; the
 * message of a 5xx does not reveal it.
 */
export function failure(thrown: unknown, envelope: Envelope, exchange: Exchange, log: Logger): Outgoing {
  const { error, status } = documented(asDomainError(thrown), exchange.operation);
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

/** Failures of the database, for which a service documents either 500 or 503. */
const ofStore: ReadonlySet<ErrorKind> = new Set(['storeUnavailable', 'storeFull']);

/**
 * The status that the operation documents for an error. What is unavailable is answered with 500 when the operation documents no 503,
 * and so is a failure of the database where 503 means something else. A failure of the database keeps its kind then, because an
 * envelope may have a code for it.
 */
function documented(error: DomainError, operation: Operation | undefined): Answered {
  const status = statusOf[error.kind];
  if (status !== 503 || operation === undefined) return { error, status };
  const isOfStore = ofStore.has(error.kind);
  const answer = (code: number) => operation.responses.find((response) => response.status === code);
  if (answer(503) && !(isOfStore && operation.storeFailure === 500)) return { error, status };
  const retryAfter = answer(500)?.headers.includes('Retry-After') ? error.retryAfter : undefined;
  const options = { cause: error.cause ?? error, ...(retryAfter !== undefined && { retryAfter }) };
  const kind = isOfStore ? error.kind : 'internal';
  return { error: new DomainError(kind, 'internal error', options), status: 500 };
}

interface Answered {
  readonly error: DomainError;
  readonly status: number;
}

function logCause(
  error: DomainError,
  status: number,
  { requestId, traceId, operation }: Exchange,
  log: Logger,
): void {
  const level = status === 500 ? 'error' : 'warn';
  const line = {
    requestId,
    traceId,
    service: operation?.service,
    operation: operation?.id,
    err: error.cause ?? error,
  };
  log[level](line, error.message);
}

/** The headers by which an error tells a client what to do next. */
function headersOf(error: DomainError): Record<string, string> | undefined {
  if (error.retryAfter !== undefined) return { 'Retry-After': String(Math.ceil(error.retryAfter)) };
  if (error.challenge !== undefined) return { 'WWW-Authenticate': error.challenge };
  return headersOfKind[error.kind]?.(error);
}

const headersOfKind: Partial<Record<ErrorKind, (error: DomainError) => Record<string, string>>> = {
  unauthenticated: () => ({ 'WWW-Authenticate': 'Bearer' }),
  // The rest of the body may still arrive, and would be read as the next request.
  requestTimeout: () => ({ Connection: 'close' }),
  rangeNotSatisfiable: ({ size }) => ({ 'Content-Range': `bytes */${size}` }),
  upgradeRequired: ({ protocol = '' }) => ({
    ...{ Connection: 'Upgrade', Upgrade: protocol },
    ...(protocol === 'websocket' && { 'Sec-WebSocket-Version': '13' }),
  }),
};
