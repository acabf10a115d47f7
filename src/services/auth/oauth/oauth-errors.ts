import type { DomainError, ErrorKind } from '../../../lib/errors.ts';
import { encodeError } from '../errors.ts';

/** The error codes of RFC 6749 (section 5.2), RFC 6750 (section 3.1) and RFC 6585 for refusals by the service itself. */
const words: Partial<Record<ErrorKind, string>> = {
  unauthenticated: 'invalid_token',
  forbidden: 'insufficient_scope',
  rateLimited: 'temporarily_unavailable',
  unavailable: 'server_error',
  storeUnavailable: 'server_error',
  storeFull: 'server_error',
  internal: 'server_error',
};

/** Operations whose callers expect OAuth errors. */
const ofOAuth: ReadonlySet<string> = new Set(
  ['token', 'introspect', 'revoke', 'userinfo', 'postUserinfo', 'par']
    .map((method) => `OAuth_${method}`)
    .concat('DeviceGrant_authorize')
    .concat(['register', 'get', 'update', 'delete'].map((method) => `ClientRegistration_${method}`)),
);

/** The error envelope of an operation: OAuth operations use the standard's error code and a description. */
export function encodeErrorOf(error: DomainError, operation: string | undefined) {
  const { error: message, ...encoded } = encodeError(error);
  if (operation === undefined || !ofOAuth.has(operation)) return { error: message, ...encoded };
  const word = registrationWord(error, operation) ?? words[error.kind] ?? 'invalid_request';
  const told = { error: word, error_description: message };
  return { ...encoded, ...told };
}

/** The error code of RFC 7591 (section 3.2.2) for a client that cannot be registered; undefined for other errors. */
function registrationWord({ kind, message, details }: DomainError, operation: string): string | undefined {
  if (!operation.startsWith('ClientRegistration_')) return undefined;
  if (kind === 'forbidden' && details?.['reason'] === undefined) return 'access_denied';
  if (kind !== 'invalid') return undefined;
  return message.startsWith('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata';
}

/** The `code` of a failure that the library reports. */
export const codeOfStatus = (status: number): string =>
  status === 401 ? 'UNAUTHORIZED' : status === 403 ? 'FORBIDDEN' : 'BAD_REQUEST';
