import { expect, it } from 'vitest';
import { Forbidden, Internal, Invalid, RateLimited, Unauthenticated } from '../../../lib/errors.ts';
import { encodeErrorOf } from './oauth-errors.ts';

it.each([
  [Invalid('grant_type: required'), 'invalid_request', 'grant_type: required', 'BAD_REQUEST'],
  [Unauthenticated('no'), 'invalid_token', 'no', 'UNAUTHORIZED'],
  [Forbidden('no'), 'insufficient_scope', 'no', 'FORBIDDEN'],
  [RateLimited('too many', { retryAfter: 1 }), 'temporarily_unavailable', 'too many', 'RATE_LIMITED'],
  [Internal(new Error('secret')), 'server_error', 'internal error', 'INTERNAL_ERROR'],
])('to programs %s has the word of the standard', (error, word, error_description, code) => {
  for (const operation of ['OAuth_token', 'OAuth_introspect', 'OAuth_par', 'OAuth_userinfo'])
    expect(encodeErrorOf(error, operation)).toEqual({ error: word, error_description, code });
});

it('everywhere else an error is its message', () => {
  for (const operation of ['OAuth_authorize', 'Clients_get', undefined])
    expect(encodeErrorOf(Invalid('limit: no'), operation)).toEqual({
      error: 'limit: no',
      code: 'BAD_REQUEST',
    });
});
