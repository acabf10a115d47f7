import type { Answer, EventStream } from './answer.ts';

/**
 * Why a call failed:
 * - `response`: the server answered with an error; `status`, `code` and `body` say which;
 * - `connection`: no complete answer arrived;
 * - `timeout`: no answer arrived in time;
 * - `abort`: the caller's signal ended it; `cause` is the signal's reason;
 * - `stream`: the server ended an event stream with an error;
 * - `protocol`: the answer does not match the contract, such as a proxy's page in place of JSON.
 */
export type FailureKind = 'response' | 'connection' | 'timeout' | 'abort' | 'stream' | 'protocol';

interface Failure<Body> {
  readonly kind: FailureKind;
  /** The method that was called: `authz.roles.create`. */
  readonly operation: string;
  readonly message: string;
  readonly status?: number;
  readonly code?: string | number;
  readonly body?: Body;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly headers?: Headers | undefined;
  readonly cause?: unknown;
}

/** The error that every failed call throws, whatever the service's envelope. It contains nothing of the request. */
export class PlinthError<Body = unknown> extends Error {
  override readonly name = 'PlinthError';
  readonly kind: FailureKind;
  /** The method that was called: `authz.roles.create`. */
  readonly operation: string;
  /** The HTTP status, or 0 when no answer arrived. */
  readonly status: number;
  /** The envelope's code; without one, the status; without an envelope, the kind. */
  readonly code: string | number;
  /** The body as it arrived: the service's envelope, or text when it is not JSON. */
  readonly body: Body | undefined;
  /** The id under which the server's log has the cause. */
  readonly requestId: string | undefined;
  /** Seconds after which the server expects a retry to succeed. */
  readonly retryAfter: number | undefined;
  /** The headers of the answer, or undefined when none arrived. */
  declare readonly headers: Headers | undefined;

  constructor({
    kind,
    operation,
    message,
    status = 0,
    code,
    body,
    requestId,
    retryAfter,
    headers,
    cause,
  }: Failure<Body>) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.operation = operation;
    this.status = status;
    this.code = code ?? (status || kind);
    this.body = body;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    // Not enumerable, so that a copy of the error's members can be sent to a page or written as JSON.
    Object.defineProperty(this, 'headers', { value: headers });
  }
}

/** An error with the body that the operation documents. */
export interface DocumentedError<Body> extends PlinthError<Body> {
  readonly body: Body;
}

type Method<Body> = (request: never, options?: never) => Answer<unknown, Body> | EventStream<unknown, Body>;

/** Whether a caught value is an error of this client. */
export function isPlinthError(thrown: unknown): thrown is PlinthError;
/**
 * Whether a caught value is an error that `method` documents, which determines the type of its body:
 * `isPlinthError(thrown, plinth.authz.decisions.enforce)`.
 */
export function isPlinthError<Body>(thrown: unknown, method: Method<Body>): thrown is DocumentedError<Body>;
export function isPlinthError(thrown: unknown, method?: Method<unknown>): boolean {
  // Compares the name, so that it also recognises an error of another copy of this package.
  if (!(thrown instanceof Error) || thrown.name !== 'PlinthError') return false;
  // `filter` passes a number as the second argument.
  if (typeof method !== 'function') return true;
  const { operation, body } = thrown as PlinthError;
  return operation === method.name && typeof body === 'object' && body !== null;
}

/** Returns the error for a response. */
export function responseError(operation: string, response: Response, body: unknown): PlinthError {
  const { message, code } = readEnvelope(body);
  return new PlinthError({
    kind: 'response',
    operation,
    message: message ?? statusLine(response),
    status: response.status,
    ...(code !== undefined && { code }),
    body: body === '' ? undefined : body,
    requestId: requestIdOf(response),
    retryAfter: retryAfterOf(response),
    headers: response.headers,
  });
}

/** Browsers hide the status and the target of a redirect that is not followed. */
const statusLine = ({ status, statusText }: Response) =>
  status === 0 ? 'a redirect, which is not followed' : `HTTP ${status} ${statusText}`.trimEnd();

/** Returns the error of a call that its caller aborted. */
export const aborted = (operation: string, cause: unknown): PlinthError =>
  new PlinthError({ kind: 'abort', operation, message: `${operation}: aborted`, cause });

export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get('X-Request-ID') ?? undefined;

interface Envelope {
  readonly message?: string;
  readonly code?: string | number;
}

/** Reads the services' envelopes: `{error, code?}`, `{error: {message, code}}` and `{message}`. */
export function readEnvelope(body: unknown): Envelope {
  if (!isObject(body)) return {};
  const { error = body, code } = body;
  if (typeof error === 'string') return { message: error, ...codeOf(code) };
  if (!isObject(error)) return {};
  return {
    ...(typeof error['message'] === 'string' && { message: error['message'] }),
    ...codeOf(error['code']),
  };
}

const codeOf = (code: unknown): Envelope =>
  typeof code === 'string' || typeof code === 'number' ? { code } : {};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns `Retry-After` in seconds, from either of its two forms. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get('Retry-After')?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1000);
}
