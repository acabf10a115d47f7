import { createHash } from 'node:crypto';
import { Invalid } from '../../../lib/errors.ts';
import { blockSums } from './block-sums.ts';

export type Algorithm = 'sha256' | 'crc32c' | 'md5';

/** Checksums that a client expects, in lower-case hexadecimal digits. */
export type ExpectedChecksums = Partial<Record<Algorithm, string>>;

/** The size and the checksums of content that has passed a hasher. */
export interface Digests {
  readonly size: number;
  readonly sha256: string;
  readonly crc32c: string;
  /** The CRC32C of each block, four bytes each. */
  readonly blocks: Buffer;
  /** Computed only when it was asked for. */
  readonly md5?: string;
}

const digits: Readonly<Record<Algorithm, number>> = { sha256: 64, crc32c: 8, md5: 32 };

/**
 * Reads an `X-Store-Checksum` header: one to three values such as `crc32c:364b3fb7`, separated by commas, each algorithm at most
 * once; 64 digits alone are a `sha256`.
 */
export function parseChecksums(header: string | undefined): ExpectedChecksums {
  if (header === undefined) return {};
  const values = header.split(',', 4).map((value) => value.trim());
  if (values.length > 3) throw invalidHeader('at most 3 values');
  const expected: ExpectedChecksums = {};
  for (const value of values) {
    const [, algorithm = 'sha256', hex] = /^(?:(sha256|crc32c|md5):)?([0-9A-Fa-f]+)$/.exec(value) ?? [];
    if (hex?.length !== digits[algorithm as Algorithm])
      throw invalidHeader('must be sha256, crc32c or md5, a colon, and 64, 8 or 32 hexadecimal digits');
    if (expected[algorithm as Algorithm] !== undefined) throw invalidHeader(`${algorithm} is given twice`);
    expected[algorithm as Algorithm] = hex.toLowerCase();
  }
  return expected;
}

const invalidHeader = (problem: string) => Invalid(`invalid checksum header: ${problem}`);

/** Computes the checksums of content that arrives in chunks. */
export interface ContentHasher {
  update(chunk: Uint8Array): void;
  /** Ends the content; called once. */
  digest(): Digests;
}

/** @param expected the checksums that will be verified; MD5 costs much and is computed only if it is among them, or with `md5: ''` */
export function contentHasher(expected: ExpectedChecksums = {}): ContentHasher {
  const sha256 = createHash('sha256');
  const md5 = expected.md5 === undefined ? undefined : createHash('md5');
  const sums = blockSums();
  let size = 0;
  return {
    update(chunk) {
      size += chunk.length;
      sha256.update(chunk);
      md5?.update(chunk);
      sums.update(chunk);
    },
    digest() {
      const { blocks, whole } = sums.digest();
      return {
        ...{ size, sha256: sha256.digest('hex'), crc32c: whole, blocks },
        ...(md5 && { md5: md5.digest('hex') }),
      };
    },
  };
}

/** Throws the first difference between the checksums that the client expects and those of the content. */
export function verifyChecksums(expected: ExpectedChecksums, actual: Omit<Digests, 'size' | 'blocks'>): void {
  for (const algorithm of ['sha256', 'crc32c', 'md5'] as const) {
    const wanted = expected[algorithm];
    const got = actual[algorithm];
    if (wanted !== undefined && wanted !== got)
      throw Invalid(`checksum mismatch: ${algorithm} expected ${wanted} got ${got}`);
  }
}
