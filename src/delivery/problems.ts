import { TargetRefused } from '../lib/outbound.ts';

/** The most characters of a reason. */
const longest = 512;

/** There was no request: its parts could not be read or put together. */
export const unbuilt = 'the request could not be made';

/** Problems that no further attempt removes. They say nothing about whether the receiver works. */
export const lasting: ReadonlySet<string> = new Set(['address not allowed', unbuilt]);

/** What the codes of Node and undici mean, in the words of the contract. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ECONNABORTED: 'connection reset',
  UND_ERR_SOCKET: 'connection reset',
  UND_ERR_CLOSED: 'connection reset',
  UND_ERR_DESTROYED: 'connection reset',
  EHOSTUNREACH: 'connection refused',
  ENETUNREACH: 'connection refused',
  EADDRNOTAVAIL: 'connection refused',
  ETIMEDOUT: 'connection timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connection timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ENOTFOUND: 'host not found',
  EAI_NODATA: 'host not found',
  EAI_NONAME: 'host not found',
  ENODATA: 'host not found',
};

/** Names why there was no answer, without internal details such as addresses. */
export function problemOf(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; depth++) {
    const problem = problemIn(cause);
    if (problem !== undefined) return problem;
    cause = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
  }
  return 'invalid response';
}

function problemIn(error: Error): string | undefined {
  if (error instanceof TargetRefused) return 'address not allowed';
  if (error.name === 'TimeoutError') return 'timeout';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known = words[code];
  if (known !== undefined) return known;
  if (code.startsWith('EAI_') || code.startsWith('DNS_')) return 'dns failure';
  if (isTls(code)) return `tls: ${tlsReason(error, code)}`.slice(0, longest);
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') return 'invalid response';
  return undefined;
}

const tlsCode =
  /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CRL_|INVALID_|HOSTNAME_)/;
const isTls = (code: string): boolean => tlsCode.test(code);

/** The code is shown in place of the message, which may hold names and addresses. */
const tlsReason = (error: Error, code: string): string =>
  'reason' in error && typeof error.reason === 'string' && code !== 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? error.reason
    : code
        .replace(/^ERR_(?:TLS|SSL)_/, '')
        .toLowerCase()
        .replaceAll('_', ' ');
