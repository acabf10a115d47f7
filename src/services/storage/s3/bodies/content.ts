import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from '../protocol/errors.ts';
import { type Claim, payloads } from '../signing/authorization.ts';
import type { Verified } from '../signing/signature.ts';
import {
  algorithms,
  checksumPrefix,
  decoded,
  type Expectation,
  expectations,
  newMd5,
  signedHash,
} from './checksums.ts';
import { ChunkedDecoder } from './chunked.ts';

/** The content that a request carries, without the encoding in which it is sent. */
export interface Content {
  /** How many bytes it has, as the client says. */
  readonly length: number;
  /** Whether chunks of `aws-chunked` surround it. */
  readonly isChunked: boolean;
  /**
   * The content in pieces. Throws instead of ending when the content is not what the headers, the trailer or the signatures say, so
   * that a reader who has seen the end has the content that was signed.
   */
  verified(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void>;
  /** The MD5 of the content in hexadecimal digits, known when `verified` has ended: the entity tag that clients expect. */
  readonly md5: () => string;
  /** The checksum of the content in a header for the response; known when `verified` has ended, and empty when none was sent. */
  checksum(): Readonly<Record<string, string>>;
}

/** What the head of a request says about its content. Throws when that makes no sense or is not supported. */
export function contentOf(
  headers: IncomingHttpHeaders,
  claim: Pick<Claim, 'payload'>,
  verified: Verified,
): Content {
  const { payload } = claim;
  const isChunked = payload.startsWith('STREAMING-');
  const trailers = isChunked ? trailersOf(headers, payload) : [];
  const expected = expectations(headers, trailers);
  if (/^[0-9a-f]{64}$/.test(payload)) expected.push(signedHash(payload));
  const length = lengthOf(headers, isChunked);
  const signed = payload === payloads.unsignedTrailer ? undefined : verified;
  const decoder = isChunked ? new ChunkedDecoder({ length, signed, trailers }) : undefined;
  const digests = expected.map(({ create }) => create());
  // The one that was announced serves both purposes.
  const announced = expected.findIndex(({ header }) => header === 'content-md5');
  const own = announced === -1 ? newMd5() : undefined;
  let md5 = '';
  let checksum: Record<string, string> = {};
  return {
    length,
    isChunked,
    md5: () => md5,
    checksum: () => checksum,
    async *verified(pieces) {
      for await (const piece of pieces) {
        const content = decoder ? decoder.push(piece) : piece;
        if (content === undefined) continue;
        for (const digest of digests) digest.update(content);
        own?.update(content);
        yield content;
      }
      decoder?.end();
      const results = digests.map((digest) => digest.digest());
      expected.forEach((one, at) => check(one, results[at]!, decoder?.trailer));
      md5 = (own?.digest() ?? results[announced]!).toString('hex');
      checksum = Object.fromEntries(
        expected.flatMap(({ header }, at) =>
          header.startsWith(checksumPrefix) ? [[header, results[at]!.toString('base64')]] : [],
        ),
      );
    },
  };
}

function trailersOf(headers: IncomingHttpHeaders, payload: string): string[] {
  const given = headers['x-amz-trailer'];
  if (payload === payloads.signedChunks) {
    if (given !== undefined)
      throw s3Error('InvalidRequest', `x-amz-trailer: not with ${payloads.signedChunks}`);
    return [];
  }
  if (typeof given !== 'string') return [];
  return given
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}

function lengthOf(headers: IncomingHttpHeaders, isChunked: boolean): number {
  const name = isChunked ? 'x-amz-decoded-content-length' : 'content-length';
  const given = headers[name];
  if (given === undefined && !isChunked && headers['transfer-encoding'] === undefined) return 0;
  if (given === undefined) throw s3Error('MissingContentLength', `The header ${name} is missing`);
  if (typeof given !== 'string' || !/^[0-9]{1,15}$/.test(given))
    throw s3Error('InvalidArgument', `${name} must be a number of bytes`);
  return Number(given);
}

function check(one: Expectation, result: Buffer, trailer: ReadonlyMap<string, string> | undefined): void {
  const expected =
    one.value ?? decoded(one.header, trailer?.get(one.header) ?? '', result.length, 'InvalidRequest');
  if (expected.equals(result)) return;
  throw s3Error(one.mismatch, `The content does not match ${one.header}`);
}

/** The names of the checksums that the façade verifies, as S3 writes them. */
export const checksumNames = Object.keys(algorithms).map((name) => name.toUpperCase());
