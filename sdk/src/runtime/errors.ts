import type { Answer, EventStream } from './answer.ts';

/**
 * Why a call failed:
 * - `response`: the server answered with an error; `status`, `code` and `body` say which;
 * - `connection`: no whole answer arrived;
 * - `timeout`: no answer arrived in time;
 * - `abort`: the caller's signal ended it; `cause` is the signal's reason;
 * - `stream`: the server ended an event stream with an error;
 * - `protocol`: what arrived is not what the contract says, such as a proxy's page in place of JSON.
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
  readonly cause?: unknown;
}

/** What every failed call throws, whatever the service's envelope. It carries nothing of the request. */
export class PlinthError<Body = unknown> extends Error {
  override readonly name = 'PlinthError';
  readonly kind: FailureKind;
  /** The method that was called: `authz.roles.create`. */
  readonly operation: string;
  /** The HTTP status; 0 where no answer arrived. */
  readonly status: number;
  /** The envelope's code; the status where the envelope has none, the kind where there is no envelope. */
  readonly code: string | number;
  /** The body as it arrived: the service's envelope, or text where it is not JSON. */
  readonly body: Body | undefined;
  /** The server's log has the cause under this id. */
  readonly requestId: string | undefined;
  /** Seconds after which the server expects a repeat to succeed. */
  readonly retryAfter: number | undefined;

  constructor({
    kind,
    operation,
    message,
    status = 0,
    code,
    body,
    requestId,
    retryAfter,
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
  }
}

/** An error whose body is the one that the operation documents. */
export interface DocumentedError<Body> extends PlinthError<Body> {
  readonly body: Body;
}

type Method<Body> = (request: never, options?: never) => Answer<unknown, Body> | EventStream<unknown, Body>;

/** Whether something caught is an error of this client. */
export function isPlinthError(thrown: unknown): thrown is PlinthError;
/**
 * Whether something caught is an error that `method` documents, which says what its body is:
 * `isPlinthError(thrown, plinth.authz.decisions.enforce)`.
 */
export function isPlinthError<Body>(thrown: unknown, method: Method<Body>): thrown is DocumentedError<Body>;
export function isPlinthError(thrown: unknown, method?: Method<unknown>): boolean {
  // By name, so that an error of another copy of this package is recognised too.
  if (!(thrown instanceof Error) || thrown.name !== 'PlinthError') return false;
  // A number where it is given to `filter`.
  if (typeof method !== 'function') return true;
  const { operation, body } = thrown as PlinthError;
  return operation === method.name && typeof body === 'object' && body !== null;
}

/** The error that a response stands for. */
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
  });
}

/** Browsers hide where a redirect that is not followed leads to, and its status. */
const statusLine = ({ status, statusText }: Response) =>
  status === 0 ? 'a redirect, which is not followed' : `HTTP ${status} ${statusText}`.trimEnd();

/** The error of a call that its caller gave up. */
export const aborted = (operation: string, cause: unknown): PlinthError =>
  new PlinthError({ kind: 'abort', operation, message: `${operation}: aborted`, cause });

export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get('X-Request-ID') ?? undefined;

interface Envelope {
  readonly message?: string;
  readonly code?: string | number;
}

/** The services' envelopes: `{error, code?}`, `{error: {message, code}}` and `{message}`. */
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

/** `Retry-After` in seconds, whichever of its two forms was sent. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get('Retry-After')?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1000);
}
