import type { DomainError, ErrorKind } from '../../lib/errors.ts';
import { encodeError } from './errors.ts';

/** The words of RFC 6749 (section 5.2), RFC 6750 (section 3.1) and RFC 6585 for what the service itself refuses. */
const words: Partial<Record<ErrorKind, string>> = {
  unauthenticated: 'invalid_token',
  forbidden: 'insufficient_scope',
  rateLimited: 'temporarily_unavailable',
  unavailable: 'server_error',
  internal: 'server_error',
};

/** Operations that programs call as OAuth has it. */
const ofOAuth: ReadonlySet<string> = new Set(
  ['token', 'introspect', 'revoke', 'userinfo', 'postUserinfo', 'par'].map((method) => `OAuth_${method}`),
);

/** The envelope of an operation: OAuth's own has the word of the standard and a description. */
export function encodeErrorOf(error: DomainError, operation: string | undefined) {
  const { error: message, ...encoded } = encodeError(error);
  if (operation === undefined || !ofOAuth.has(operation)) return { error: message, ...encoded };
  const told = { error: words[error.kind] ?? 'invalid_request', error_description: message };
  return { ...encoded, ...told };
}

/** The `code` of a failure that the library tells. */
export const codeOfStatus = (status: number): string =>
  status === 401 ? 'UNAUTHORIZED' : status === 403 ? 'FORBIDDEN' : 'BAD_REQUEST';
