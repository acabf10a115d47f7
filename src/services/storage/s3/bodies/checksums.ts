import { crc32c } from '@node-rs/crc32';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { s3Error } from '../protocol/errors.ts';
import { Crc64 } from './crc64.ts';

/** A checksum that is computed piece by piece. */
export interface Digest {
  update(data: Uint8Array): void;
  digest(): Buffer;
}

type Create = () => Digest;

const hash = (name: string): Create => {
  return () => {
    const digest = createHash(name);
    return { update: (data) => void digest.update(data), digest: () => digest.digest() };
  };
};

function crc(next: (data: Uint8Array, previous: number) => number): Create {
  return () => {
    let value = 0;
    return {
      update(data) {
        value = next(data, value);
      },
      digest() {
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32BE(value);
        return bytes;
      },
    };
  };
}

/** The checksums that S3 knows, each in a header `x-amz-checksum-<name>`, with their lengths in bytes. */
export const algorithms = {
  crc32: { bytes: 4, create: crc((data, previous) => crc32(data, previous)) },
  crc32c: { bytes: 4, create: crc((data, previous) => crc32c(data, previous)) },
  crc64nvme: { bytes: 8, create: () => new Crc64() },
  sha1: { bytes: 20, create: hash('sha1') },
  sha256: { bytes: 32, create: hash('sha256') },
} as const satisfies Record<string, { bytes: number; create: Create }>;

export type Algorithm = keyof typeof algorithms;

export const checksumPrefix = 'x-amz-checksum-';

const headerOf = (algorithm: string): string => `${checksumPrefix}${algorithm}`;

export const newMd5: Create = hash('md5');

/** A checksum that the client expects. */
export interface Expectation {
  readonly header: string;
  readonly create: Create;
  /** Undefined when it follows the content. */
  readonly value: Buffer | undefined;
  /** The error when the content does not match. */
  readonly mismatch: 'BadDigest' | 'XAmzContentSHA256Mismatch';
}

/** Headers that begin like those of checksums but are none. */
const otherHeaders = ['x-amz-checksum-mode', 'x-amz-checksum-type', 'x-amz-checksum-algorithm'];

/**
 * The checksums that the headers of a request promise: each `x-amz-checksum-…`, `Content-MD5`, and those that `x-amz-trailer` announces.
 * Throws for a checksum that cannot be verified.
 */
export function expectations(
  headers: Readonly<Record<string, unknown>>,
  trailers: readonly string[],
): Expectation[] {
  const found: Expectation[] = [];
  for (const name of Object.keys(headers)) {
    if (!name.startsWith(checksumPrefix) || otherHeaders.includes(name)) continue;
    found.push(expectation(name, String(headers[name])));
  }
  for (const name of trailers) {
    if (headers[name] !== undefined)
      throw s3Error('InvalidRequest', `${name} is given before and after the content`);
    found.push(expectation(name, undefined));
  }
  if (found.length > 1) throw s3Error('InvalidRequest', 'Only one header x-amz-checksum-… may be given');
  const md5 = headers['content-md5'];
  if (typeof md5 === 'string')
    found.push({
      header: 'content-md5',
      create: newMd5,
      value: decoded('content-md5', md5, 16, 'InvalidDigest'),
      mismatch: 'BadDigest',
    });
  return found;
}

/** The SHA-256 of the content that the signature covers, in hexadecimal digits. */
export const signedHash = (hex: string): Expectation => ({
  header: 'x-amz-content-sha256',
  create: hash('sha256'),
  value: Buffer.from(hex, 'hex'),
  mismatch: 'XAmzContentSHA256Mismatch',
});

function expectation(header: string, value: string | undefined): Expectation {
  const algorithm = Object.keys(algorithms).find((name) => headerOf(name) === header) as
    Algorithm | undefined;
  if (algorithm === undefined)
    throw s3Error(
      'NotImplemented',
      `${header.slice(0, 100)} is not supported, only ${Object.keys(algorithms).join(', ')}`,
    );
  const { bytes, create } = algorithms[algorithm];
  return {
    header,
    create,
    value: value === undefined ? undefined : decoded(header, value, bytes, 'InvalidRequest'),
    mismatch: 'BadDigest',
  };
}

/** Decodes a checksum in base64, which must be exactly as long as its algorithm says. */
export function decoded(
  header: string,
  value: string,
  bytes: number,
  code: 'InvalidDigest' | 'InvalidRequest',
): Buffer {
  const result = Buffer.from(value, 'base64');
  if (result.length !== bytes || result.toString('base64') !== value)
    throw s3Error(code, `Value for ${header} header is invalid`);
  return result;
}
