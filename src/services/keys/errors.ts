import type { Constraints } from '../../db/constraints.ts';
import { Conflict, type DomainError, type ErrorKind } from '../../lib/errors.ts';

/** The codes in the service's error envelope, one for each kind of failure that its contract documents. */
const codes: Partial<Record<ErrorKind, string>> = {
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
  storeUnavailable: 'UNAVAILABLE',
  storeFull: 'UNAVAILABLE',
  internal: 'INTERNAL_ERROR',
};

/** The service's error envelope: a message that is safe to show and a code for programs. */
export const encodeError = (error: DomainError) => ({
  error: error.message,
  code: codes[error.kind] ?? 'INTERNAL_ERROR',
});

/** The error that the caller receives when a constraint is violated. */
export const constraints: Constraints = {
  policies_name: () => Conflict('policy name already exists'),
  scopes_name: () => Conflict('scope name already exists'),
};
