import { createHash, randomBytes } from 'node:crypto';

/** Content of one size: all of it has the same beginning and an end of its own, so that its digest takes no time. */
export interface Content {
  readonly size: number;
  /** Content number `n` in two pieces. */
  pieces(n: number): readonly [Buffer, Buffer];
  /** Its SHA-256 in hexadecimal digits. */
  digest(n: number): string;
}

const tailSize = 32;

export function createContent(size: number): Content {
  const beginning = randomBytes(size - tailSize);
  const hash = createHash('sha256').update(beginning);
  const tailOf = (n: number) => Buffer.from(String(n).padStart(tailSize, '0'));
  return {
    size,
    pieces: (n) => [beginning, tailOf(n)],
    digest: (n) => hash.copy().update(tailOf(n)).digest('hex'),
  };
}

export const [kibibyte, mebibyte] = [1024, 1024 ** 2];
