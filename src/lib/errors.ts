/**
 * The errors that services raise. They know nothing of HTTP: `src/http/status.ts` maps a kind to a status, and each
 * service encodes its own envelope. `message` is safe to send; whatever explains the cause to operators goes into
 * `cause` and reaches the log only.
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'notFound'
  | 'methodNotAllowed'
  | 'conflict'
  | 'gone'
  | 'tooLarge'
  | 'unsupportedMediaType'
  | 'rateLimited'
  | 'unavailable'
  | 'internal';

export interface ErrorOptions {
  /** Kept for the log, never sent. */
  cause?: unknown;
  /** Seconds after which the same request may succeed; sent as `Retry-After`. */
  retryAfter?: number;
  /** Members that the service's envelope adds to the error, for example the decision behind a 403. */
  details?: Record<string, unknown>;
}

export class DomainError extends Error {
  readonly kind: ErrorKind;
  readonly retryAfter: number | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.kind = kind;
    this.retryAfter = options.retryAfter;
    this.details = options.details;
  }
}

/** The request says something that cannot be right; `message` is `<field>: <problem>` wherever a field is at fault. */
export const Invalid = (message: string, options?: ErrorOptions) =>
  new DomainError('invalid', message, options);
export const Unauthenticated = (message = 'credentials are missing or invalid', options?: ErrorOptions) =>
  new DomainError('unauthenticated', message, options);
export const Forbidden = (message: string, options?: ErrorOptions) =>
  new DomainError('forbidden', message, options);
/** `NotFound('role')` reads `role not found`: the same words whether it never existed or belongs to another tenant. */
export const NotFound = (entity: string, options?: ErrorOptions) =>
  new DomainError('notFound', `${entity} not found`, options);
export const Conflict = (message: string, options?: ErrorOptions) =>
  new DomainError('conflict', message, options);
export const Gone = (message: string, options?: ErrorOptions) => new DomainError('gone', message, options);
export const TooLarge = (message: string, options?: ErrorOptions) =>
  new DomainError('tooLarge', message, options);
export const UnsupportedMediaType = (message: string, options?: ErrorOptions) =>
  new DomainError('unsupportedMediaType', message, options);
export const RateLimited = (message: string, options: ErrorOptions & { retryAfter: number }) =>
  new DomainError('rateLimited', message, options);
export const Unavailable = (message: string, options: ErrorOptions = {}) =>
  new DomainError('unavailable', message, { retryAfter: 1, ...options });
export const Internal = (cause: unknown) => new DomainError('internal', 'internal error', { cause });
