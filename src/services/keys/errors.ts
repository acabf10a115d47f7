import type { DomainError, ErrorKind } from '../../lib/errors.ts';

/** The codes of the service's envelope, one for each kind of failure. */
const codes: Record<ErrorKind, string> = {
  invalid: 'BAD_REQUEST',
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  notFound: 'NOT_FOUND',
  methodNotAllowed: 'METHOD_NOT_ALLOWED',
  conflict: 'CONFLICT',
  gone: 'GONE',
  tooLarge: 'TOO_LARGE',
  unsupportedMediaType: 'UNSUPPORTED_MEDIA_TYPE',
  rateLimited: 'RATE_LIMITED',
  unavailable: 'UNAVAILABLE',
  internal: 'INTERNAL_ERROR',
};

/** The envelope of the service: a message that is safe to show and a code for programs. */
export const encodeError = (error: DomainError) => ({ error: error.message, code: codes[error.kind] });
