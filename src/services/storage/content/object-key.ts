import { Invalid } from '../../../lib/errors.ts';

/** The most bytes of a key, or of a prefix of keys, in UTF-8. */
export const mostKeyBytes = 1024;

/**
 * Cuts the key from the URL of a request as it was received: what follows `objects/` after the bucket, percent-decoded exactly once.
 * The router's parameter does not serve, because URL libraries rewrite dot segments and read encoded bytes in their own way.
 * @throws Invalid when the key is missing or is no key
 */
export function keyFromPath(url: string): string {
  return checkKey(decodeUtf8(percentDecoded(rawPlace(url).key)));
}

/** The bucket in the same path, as it is written there; empty when there is none. */
export const bucketInPath = (url: string): string => rawPlace(url).bucket;

/** A key may itself look like the path of an object: the first bucket in the path is the one that the router sees. */
function rawPlace(url: string): { readonly bucket: string; readonly key: string } {
  const path = url.split('?', 1)[0]!;
  let from = 0;
  let before = ['', ''];
  while (from <= path.length) {
    const slash = path.indexOf('/', from);
    const end = slash < 0 ? path.length : slash;
    const segment = path.slice(from, end);
    if (isWord(segment, 'objects') && isWord(before[0]!, 'buckets'))
      return { bucket: before[1]!, key: path.slice(end + 1) };
    before = [before[1]!, segment];
    from = end + 1;
  }
  return { bucket: '', key: '' };
}

/** The router also accepts the words of a path with some of their letters percent-encoded. */
const isWord = (segment: string, word: string) =>
  segment === word ||
  (segment.length <= 3 * word.length &&
    segment.includes('%') &&
    percentDecoded(segment, false).toString('latin1') === word);

/** A URL arrives with one character for each byte, so the key may also be sent as UTF-8 that is not encoded. */
function percentDecoded(text: string, strict = true): Buffer {
  if (/[^\0-\xff]|#/.test(text)) throw invalidKey('must be percent-encoded');
  const bytes = Buffer.from(text, 'latin1');
  if (!text.includes('%')) return bytes;
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === percent ? hexPair(text, at + 1) : undefined;
    if (bytes[at] === percent && escaped === undefined && strict)
      throw invalidKey('malformed percent-encoding');
    bytes[length++] = escaped ?? bytes[at]!;
    if (escaped !== undefined) at += 2;
  }
  return bytes.subarray(0, length);
}

const percent = 0x25;

function hexPair(text: string, at: number): number | undefined {
  const digits = text.slice(at, at + 2);
  return /^[0-9A-Fa-f]{2}$/.test(digits) ? parseInt(digits, 16) : undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidKey('must be UTF-8');
  }
}

/**
 * Checks a key that arrived as text, and returns it. Refused are keys that a URL library or a proxy would rewrite on the way, so that
 * such a request could never reach an object other than the one it names.
 */
export function checkKey(key: string): string {
  if (key === '') throw Invalid('object key is required');
  const problem = keyProblem(key);
  if (problem !== undefined) throw invalidKey(problem);
  return key;
}

/** Returns what is wrong with a key that is not empty; undefined for a good one. */
function keyProblem(key: string): string | undefined {
  if (!fitsKey(key)) return `must have at most ${mostKeyBytes} bytes`;
  if (!key.isWellFormed()) return 'must not contain a lone surrogate';

  if (/[\0-\x1f\x7f]/.test(key)) return 'must not contain control characters';
  if (/\p{Noncharacter_Code_Point}/u.test(key)) return 'must not contain Unicode noncharacters';
  if (key.startsWith('/')) return 'must not begin with a slash';
  if (key.includes('//')) return 'empty segment';
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(key)) return 'must not contain the segments . and ..';
  return undefined;
}

/** Checks the length of a prefix of keys or of a key to start after. */
export function checkKeyBytes(field: string, text: string): void {
  if (!fitsKey(text)) throw Invalid(`${field}: must have at most ${mostKeyBytes} bytes`);
}

/** Long texts are not measured: no character takes less than a byte for each of its UTF-16 units. */
const fitsKey = (text: string) => text.length <= mostKeyBytes && Buffer.byteLength(text) <= mostKeyBytes;

const invalidKey = (problem: string) => Invalid(`invalid object key: ${problem}`);
