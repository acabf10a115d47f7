import { toDomainError } from '../db/errors.ts';
import { DomainError, Internal, type ErrorKind } from '../lib/errors.ts';

/** The one place that maps what went wrong to an HTTP status. */
export const statusOf: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  conflict: 409,
  gone: 410,
  tooLarge: 413,
  unsupportedMediaType: 415,
  rateLimited: 429,
  internal: 500,
  unavailable: 503,
};

/** What a handler threw, as the error that is answered. Anything unexpected says nothing of the inside. */
export function asDomainError(thrown: unknown): DomainError {
  const error = toDomainError(thrown);
  return error instanceof DomainError ? error : Internal(error);
}
