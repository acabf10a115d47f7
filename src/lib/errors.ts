/**
 * The errors that services raise. They know nothing of HTTP: `src/http/status.ts` maps a kind to a status, and each
 * service encodes its own envelope. `message` is safe to send; details for operators belong in `cause`, which reaches
 * only the log.
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'paymentRequired'
  | 'forbidden'
  | 'notFound'
  | 'methodNotAllowed'
  | 'requestTimeout'
  | 'conflict'
  | 'gone'
  | 'preconditionFailed'
  | 'tooLarge'
  | 'unsupportedMediaType'
  | 'rangeNotSatisfiable'
  | 'upgradeRequired'
  | 'rateLimited'
  | 'internal'
  | 'notImplemented'
  | 'badGateway'
  | 'unavailable'
  | 'storeUnavailable'
  | 'storeFull'
  | 'gatewayTimeout';

export interface ErrorOptions {
  /** Kept for the log, never sent. */
  cause?: unknown;
  /** Seconds after which the same request may succeed; sent as `Retry-After`. */
  retryAfter?: number;
  /** How to authenticate, when `Bearer` alone is not enough; sent as `WWW-Authenticate`. */
  challenge?: string;
  /** The number of bytes of which a range was requested; sent as `Content-Range`. */
  size?: number;
  /** The protocol to which the client must upgrade the connection, such as `websocket`; sent as `Upgrade`. */
  protocol?: string;
  /** Members that the service's envelope adds to the error, for example the decision behind a 403. */
  details?: Record<string, unknown>;
}

export class DomainError extends Error {
  readonly kind: ErrorKind;
  readonly retryAfter: number | undefined;
  readonly challenge: string | undefined;
  readonly size: number | undefined;
  readonly protocol: string | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.kind = kind;
    this.retryAfter = options.retryAfter;
    this.challenge = options.challenge;
    this.size = options.size;
    this.protocol = options.protocol;
    this.details = options.details;
  }
}

/** The request is not valid; `message` is `<field>: <problem>` when a field is at fault. */
export const Invalid = (message: string, options?: ErrorOptions) =>
  new DomainError('invalid', message, options);
export const Unauthenticated = (message = 'credentials are missing or invalid', options?: ErrorOptions) =>
  new DomainError('unauthenticated', message, options);
export const PaymentRequired = (message: string, options?: ErrorOptions) =>
  new DomainError('paymentRequired', message, options);
export const Forbidden = (message: string, options?: ErrorOptions) =>
  new DomainError('forbidden', message, options);
/** `NotFound('role')` says `role not found`, whether the role never existed or belongs to another tenant. */
export const NotFound = (entity: string, options?: ErrorOptions) =>
  new DomainError('notFound', `${entity} not found`, options);
/** The client did not send its request in time. The connection is closed after the response, because the request is incomplete. */
export const RequestTimeout = (message: string, options?: ErrorOptions) =>
  new DomainError('requestTimeout', message, options);
export const Conflict = (message: string, options?: ErrorOptions) =>
  new DomainError('conflict', message, options);
export const Gone = (message: string, options?: ErrorOptions) => new DomainError('gone', message, options);
/** A condition of the request, such as `If-Match`, does not hold. */
export const PreconditionFailed = (message: string, options?: ErrorOptions) =>
  new DomainError('preconditionFailed', message, options);
export const TooLarge = (message: string, options?: ErrorOptions) =>
  new DomainError('tooLarge', message, options);
export const UnsupportedMediaType = (message: string, options?: ErrorOptions) =>
  new DomainError('unsupportedMediaType', message, options);
/** The requested range lies outside of the content, which has `size` bytes. */
export const RangeNotSatisfiable = (message: string, options: ErrorOptions & { size: number }) =>
  new DomainError('rangeNotSatisfiable', message, options);
/** The resource can be used only over another protocol. */
export const UpgradeRequired = (message: string, options: ErrorOptions & { protocol: string }) =>
  new DomainError('upgradeRequired', message, options);
export const RateLimited = (message: string, options: ErrorOptions & { retryAfter: number }) =>
  new DomainError('rateLimited', message, options);
/** This server is not configured for what the request asks. */
export const NotImplemented = (message: string, options?: ErrorOptions) =>
  new DomainError('notImplemented', message, options);
/** Another server, on which the response depends, failed or gave no usable response. */
export const BadGateway = (message: string, options?: ErrorOptions) =>
  new DomainError('badGateway', message, options);
/** Another server, on which the response depends, did not respond in time. */
export const GatewayTimeout = (message: string, options?: ErrorOptions) =>
  new DomainError('gatewayTimeout', message, options);
/** What the request needs is busy or away; the same request may succeed later. The database has errors of its own below. */
export const Unavailable = (message: string, options: ErrorOptions = {}) =>
  new DomainError('unavailable', message, { retryAfter: 1, ...options });
/** The database cannot be reached. Whether a write in flight took place is unknown. */
export const StoreUnavailable = (options: ErrorOptions = {}) =>
  new DomainError('storeUnavailable', 'store unavailable', { retryAfter: 1, ...options });
/** The database works but has no room for more. Reads still work, so the message says that only storing fails. */
export const StoreFull = (options: ErrorOptions = {}) =>
  new DomainError(
    'storeFull',
    'nothing can be stored: the disk of the database is full, and space has to be freed',
    { retryAfter: 5, ...options },
  );
export const Internal = (cause: unknown) => new DomainError('internal', 'internal error', { cause });
