import { timingSafeEqual } from 'node:crypto';
import { type QueryPair } from '../protocol/encoding.ts';
import { s3Error } from '../protocol/errors.ts';
import { type Claim, signatureParameter } from './authorization.ts';
import { type Scope, signature, signingKey, stringToSign } from './canonical.ts';

/** The head of a request that was signed. */
export interface SignedRequest {
  readonly method: string;
  /** The percent-decoded path. */
  readonly path: string;
  readonly query: readonly QueryPair[];
  readonly rawHeaders: readonly string[];
}

/** What is left of a verified signature: the chunks of the body continue it. */
export interface Verified {
  readonly key: Buffer;
  readonly seed: string;
  readonly time: string;
  readonly scope: Scope;
}

/** How far the clocks of client and server may be apart. */
const mostSkewMs = 15 * 60 * 1000;

const timeForm = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

/** Throws unless the signature is valid now; whether it is right is for `verify` to say. */
export function checkTime({ time, scope, expiresIn }: Claim, now: number): void {
  const at = Date.parse(time.replace(timeForm, '$1-$2-$3T$4:$5:$6Z'));
  if (!timeForm.test(time) || Number.isNaN(at))
    throw s3Error('AccessDenied', 'The time of the signature must have the form yyyymmddThhmmssZ');
  if (time.slice(0, 8) !== scope.date)
    throw s3Error('SignatureDoesNotMatch', 'The date of the credential is not the date of the signature');
  if (expiresIn === undefined ? Math.abs(at - now) > mostSkewMs : at - now > mostSkewMs)
    throw s3Error('RequestTimeTooSkewed');
  if (expiresIn !== undefined && at + expiresIn * 1000 <= now)
    throw s3Error('AccessDenied', 'Request has expired');
}

/**
 * Throws `SignatureDoesNotMatch` unless the request was signed with the secret, and `AccessDenied` when it has headers that change its
 * meaning and that the signature does not cover.
 */
export function verify(claim: Claim, request: SignedRequest, secret: string): Verified {
  const { scope, time, signedHeaders, payload } = claim;
  const key = signingKey(secret, scope);
  const query = request.query.filter(
    ([name]) => name !== signatureParameter || claim.expiresIn === undefined,
  );
  const rawHeaders = request.rawHeaders.map(textOfHeader);
  const signable = { ...request, query, rawHeaders, signedHeaders, payload };
  if (!isSame(signature(key, stringToSign(time, scope, signable)), claim.signature))
    throw s3Error('SignatureDoesNotMatch');
  checkCovered(claim, request.rawHeaders);
  return { key, seed: claim.signature, time, scope };
}

/** Whether two signatures are the same; how long it takes reveals nothing about the right one. */
export const isSame = (right: string, given: string): boolean =>
  right.length === given.length &&
  timingSafeEqual(Buffer.from(right, 'latin1'), Buffer.from(given, 'latin1'));

/** Node reads the bytes of headers as Latin-1, and clients sign UTF-8. */
const textOfHeader = (text: string): string =>
  /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'latin1').toString('utf8');

function checkCovered({ signedHeaders }: Claim, rawHeaders: readonly string[]): void {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const open = names.find((name) => name.startsWith('x-amz-') && !signedHeaders.includes(name));
  if (open !== undefined)
    throw s3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      elements: { HeadersNotSigned: open },
    });
}
