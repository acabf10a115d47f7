import { expect, it } from 'vitest';
import { TargetRefused } from '../lib/outbound.ts';
import { problemOf } from './problems.ts';

const coded = (code: string, more: object = {}) =>
  Object.assign(new Error('10.0.0.1 said no'), { code, ...more });

it.each<[unknown, string]>([
  [coded('ECONNREFUSED'), 'connection refused'],
  [coded('ECONNRESET'), 'connection reset'],
  [coded('UND_ERR_SOCKET'), 'connection reset'],
  [coded('UND_ERR_CONNECT_TIMEOUT'), 'connection timeout'],
  [coded('UND_ERR_HEADERS_TIMEOUT'), 'timeout'],
  [new DOMException('aborted', 'TimeoutError'), 'timeout'],
  [coded('ENOTFOUND'), 'host not found'],
  [coded('EAI_AGAIN'), 'dns failure'],
  [coded('CERT_HAS_EXPIRED'), 'tls: cert has expired'],
  [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls: depth zero self signed cert'],
  [coded('ERR_TLS_CERT_ALTNAME_INVALID', { reason: '10.0.0.1' }), 'tls: cert altname invalid'],
  [coded('ERR_SSL_WRONG_VERSION_NUMBER', { reason: 'wrong version number' }), 'tls: wrong version number'],
  [coded('HPE_INVALID_CONSTANT'), 'invalid response'],
  [coded('UND_ERR_HEADERS_OVERFLOW'), 'invalid response'],
  [new TargetRefused('address not allowed'), 'address not allowed'],
  [new TargetRefused('must be an https URL'), 'address not allowed'],
  [new TypeError('failed', { cause: new TargetRefused('address not allowed') }), 'address not allowed'],
  [new AggregateError([coded('ECONNREFUSED'), coded('ETIMEDOUT')]), 'connection refused'],
  [new Error('10.0.0.1 said no'), 'invalid response'],
  ['nonsense', 'invalid response'],
])('%s is %j', (error, problem) => expect(problemOf(error)).toBe(problem));

it('ends with errors that cause one another', () => {
  const error = new Error('first');
  error.cause = error;
  expect(problemOf(error)).toBe('invalid response');
});
