import { toDomainError } from '../db/errors.ts';
import { DomainError, Internal, type ErrorKind } from '../lib/errors.ts';

/** The only place that maps kinds of errors to HTTP statuses. */
export const statusOf: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  paymentRequired: 402,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  requestTimeout: 408,
  conflict: 409,
  gone: 410,
  preconditionFailed: 412,
  tooLarge: 413,
  unsupportedMediaType: 415,
  rangeNotSatisfiable: 416,
  upgradeRequired: 426,
  rateLimited: 429,
  internal: 500,
  notImplemented: 501,
  badGateway: 502,
  unavailable: 503,
  storeUnavailable: 503,
  storeFull: 503,
  gatewayTimeout: 504,
};

/** Converts a thrown value to the error that is sent. An unexpected error reveals no internals. */
export function asDomainError(thrown: unknown): DomainError {
  const error = toDomainError(thrown);
  return error instanceof DomainError ? error : Internal(error);
}
