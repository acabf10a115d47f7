import type { IncomingHttpHeaders } from 'node:http';
import { type QueryPair } from '../protocol/encoding.ts';
import { type S3Code, s3Error } from '../protocol/errors.ts';
import type { Scope } from './canonical.ts';

/** What a request says about its own signature. Nothing of it is proven yet. */
export interface Claim {
  readonly accessKeyId: string;
  readonly scope: Scope;
  /** When it was signed, as it is written in the text that was signed. */
  readonly time: string;
  /** Until when it is valid after that, in seconds; undefined for signatures in headers. */
  readonly expiresIn: number | undefined;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly payload: string;
}

/** The head of a request, as it is authorized. */
export interface SignedHead {
  readonly headers: IncomingHttpHeaders;
  readonly query: readonly QueryPair[];
}

const algorithm = 'AWS4-HMAC-SHA256';

/** The words that stand for the hash of the content. */
export const payloads = {
  unsigned: 'UNSIGNED-PAYLOAD',
  signedChunks: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  signedChunksAndTrailer: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
  unsignedTrailer: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
} as const;

/** The parameter of a signed URL that carries the signature, and that the signature cannot cover. */
export const signatureParameter = 'X-Amz-Signature';

/** Reads the signature from the `Authorization` header or from the query. Throws when the request has none, or has both. */
export function claimOf({ headers, query }: SignedHead): Claim {
  const inQuery = query.some(([name]) => name === 'X-Amz-Algorithm' || name === signatureParameter);
  const { authorization } = headers;
  if (inQuery && authorization !== undefined)
    throw s3Error(
      'InvalidArgument',
      'Only one of the header Authorization and a signature in the query is allowed',
    );
  if (inQuery) return queryClaim(query, headers);
  if (authorization === undefined) {
    if (query.some(([name]) => name === 'AWSAccessKeyId')) throw onlyVersion4();
    throw s3Error('AccessDenied', 'The request is not signed');
  }
  return headerClaim(authorization, headers);
}

const onlyVersion4 = () => s3Error('InvalidRequest', `Only the signature ${algorithm} is supported`);

const authorizationForm =
  /^AWS4-HMAC-SHA256[ ]+Credential=([^\s,]{1,256})[ ]*,[ ]*SignedHeaders=([^\s,]{1,4096})[ ]*,[ ]*Signature=([0-9a-f]{64})$/;

function headerClaim(authorization: string, headers: IncomingHttpHeaders): Claim {
  if (!authorization.startsWith(`${algorithm} `)) throw onlyVersion4();
  const found = authorizationForm.exec(authorization.trim());
  if (!found) throw s3Error('AuthorizationHeaderMalformed');
  const [, credential = '', signedHeaders = '', signature = ''] = found;
  const payload = headers['x-amz-content-sha256'];
  if (typeof payload !== 'string')
    throw s3Error('MissingSecurityHeader', 'The header x-amz-content-sha256 is missing');
  return {
    ...credentialOf(credential, 'AuthorizationHeaderMalformed'),
    time: headerTime(headers),
    expiresIn: undefined,
    signedHeaders: headerNames(signedHeaders, 'AuthorizationHeaderMalformed'),
    signature,
    payload: payloadOf(payload),
  };
}

/** The time in `X-Amz-Date`, or in `Date` for clients that cannot set it. */
function headerTime(headers: IncomingHttpHeaders): string {
  const given = headers['x-amz-date'];
  if (typeof given === 'string') return given;
  const at = Date.parse(headers.date ?? '');
  if (Number.isNaN(at)) throw s3Error('AccessDenied', 'The header x-amz-date is missing');
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

const longestExpiry = 7 * 24 * 3600;

function queryClaim(query: readonly QueryPair[], headers: IncomingHttpHeaders): Claim {
  const malformed = 'AuthorizationQueryParametersError';
  const one = (name: string): string => {
    const values = query.filter(([given]) => given === name);
    if (values.length !== 1) throw s3Error(malformed, `The parameter ${name} must be given once`);
    return values[0]![1];
  };
  if (one('X-Amz-Algorithm') !== algorithm) throw s3Error(malformed, `X-Amz-Algorithm must be ${algorithm}`);
  const expiresIn = one('X-Amz-Expires');
  if (!/^[1-9][0-9]{0,5}$/.test(expiresIn) || Number(expiresIn) > longestExpiry)
    throw s3Error(malformed, `X-Amz-Expires must be a number of seconds from 1 to ${longestExpiry}`);
  const signature = one(signatureParameter);
  if (!/^[0-9a-f]{64}$/.test(signature)) throw s3Error('SignatureDoesNotMatch');
  const payload =
    query.find(([name]) => name === 'X-Amz-Content-Sha256')?.[1] ?? headers['x-amz-content-sha256'];
  return {
    ...credentialOf(one('X-Amz-Credential'), malformed),
    time: one('X-Amz-Date'),
    expiresIn: Number(expiresIn),
    signedHeaders: headerNames(one('X-Amz-SignedHeaders'), malformed),
    signature,
    payload: payloadOf(typeof payload === 'string' ? payload : payloads.unsigned),
  };
}

const credentialForm = /^([A-Za-z0-9]{1,128})\/([0-9]{8})\/([a-zA-Z0-9_-]{1,64})\/s3\/aws4_request$/;

function credentialOf(text: string, malformed: S3Code): Pick<Claim, 'accessKeyId' | 'scope'> {
  const found = credentialForm.exec(text);
  if (!found)
    throw s3Error(malformed, 'The credential must be <access key id>/<yyyymmdd>/<region>/s3/aws4_request');
  const [, accessKeyId = '', date = '', region = ''] = found;
  return { accessKeyId, scope: { date, region } };
}

function headerNames(text: string, malformed: S3Code): string[] {
  const names = text.split(';');
  if (
    names.some((name, at) => !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || (at > 0 && name <= names[at - 1]!))
  )
    throw s3Error(malformed, 'The names of the signed headers must be in lower case and sorted');
  if (!names.includes('host')) throw s3Error(malformed, 'The header host must be signed');
  return names;
}

function payloadOf(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text) || Object.values<string>(payloads).includes(text)) return text;
  if (text.startsWith('STREAMING-'))
    throw s3Error('NotImplemented', `x-amz-content-sha256: ${text.slice(0, 100)} is not supported`);
  throw s3Error(
    'InvalidArgument',
    'x-amz-content-sha256 must be a hash in lower-case digits, or a known word',
  );
}
