import { createHash } from 'node:crypto';
import type { Completion } from '../../../../generated/storage/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { crcCombiner } from '../content/crc-combination.ts';
import { etagOf, multipartEtag } from '../content/entity-tag.ts';
import { ObjectTooLarge } from '../errors.ts';

/** A part as it is stored. */
export interface PartRow {
  readonly part_number: number;
  readonly size: number;
  /** In hexadecimal digits, like the CRC. */
  readonly sha256: string;
  readonly crc32c: string;
}

/** What the object of an upload will be. */
export interface Assembly {
  readonly size: number;
  readonly etag: string;
  readonly checksum: string;
}

/** Which parts a request names: their numbers and entity tags in order. */
type Named = Partial<Pick<Completion, 'parts' | 'allow_subset'>>;

const mostBytes = 5 * 1024 ** 4;

/**
 * Returns the parts that make the object. A list must name every part once, unless it may leave some out; without a list all parts
 * count, which must be numbered without gaps.
 * @param stored all parts of the upload by number
 * @throws Invalid for the first difference between the list and the parts
 */
export function chosenParts(
  stored: readonly PartRow[],
  { parts: list, allow_subset = false }: Named,
): PartRow[] {
  if (list === null || list === undefined) return gapless(stored);
  checkAscending(list);
  const chosen: PartRow[] = [];
  let next = 0;
  for (const { part_number, etag } of list) {
    for (; next < stored.length && stored[next]!.part_number < part_number; next++)
      if (!allow_subset) throw Invalid(`part ${stored[next]!.part_number} was uploaded but not listed`);
    const part = stored[next++];
    if (part?.part_number !== part_number) throw Invalid(`part ${part_number} is missing`);
    if (etagOf(part.sha256) !== etag) throw Invalid(`part ${part_number} has another etag`);
    chosen.push(part);
  }
  if (!allow_subset && next < stored.length)
    throw Invalid(`part ${stored[next]!.part_number} was uploaded but not listed`);
  return chosen;
}

function gapless(stored: readonly PartRow[]): PartRow[] {
  const gap = stored.findIndex(({ part_number }, place) => part_number !== place + 1);
  if (gap >= 0 || stored.length === 0) throw Invalid(`part ${Math.max(gap, 0) + 1} is missing`);
  return [...stored];
}

function checkAscending(list: readonly { readonly part_number: number }[]): void {
  const place = list.findIndex(({ part_number }, at) => at > 0 && part_number <= list[at - 1]!.part_number);
  if (place >= 0) throw Invalid(`parts[${place}].part_number: must be greater than the one before`);
}

/** @throws Invalid for a part, other than the last one, that is too small */
export function checkPartSizes(parts: readonly PartRow[], fewest: number): void {
  const small = parts.slice(0, -1).find(({ size }) => size < fewest);
  if (small) throw Invalid(`part ${small.part_number} is smaller than ${fewest} bytes`);
}

/** What these parts are together; no byte is read for it. */
export function assembled(parts: readonly PartRow[]): Assembly {
  const combine = crcCombiner();
  let size = 0;
  let crc = '00000000';
  for (const part of parts) {
    size += part.size;
    crc = combine(crc, part.crc32c, part.size);
  }
  return { size, etag: multipartEtag(parts.map(({ sha256 }) => sha256)), checksum: `crc32c:${crc}` };
}

/** Compares an object with what the request expects of it. */
export function checkExpected(
  { size, checksum }: Assembly,
  expected: Partial<Pick<Completion, 'size' | 'checksum'>>,
): void {
  const { size: wanted = null, checksum: wantedSum = null } = expected;
  if (wanted !== null && wanted !== size) throw Invalid(`size mismatch: expected ${wanted} got ${size}`);
  if (wantedSum !== null && wantedSum !== checksum)
    throw Invalid(`checksum mismatch: crc32c expected ${digitsOf(wantedSum)} got ${digitsOf(checksum)}`);
}

const digitsOf = (checksum: string) => checksum.slice(checksum.indexOf(':') + 1);

/** @param most the bucket's limit; 0 for none */
export function checkObjectSize({ size }: Assembly, most: number): void {
  const limit = most === 0 ? mostBytes : Math.min(most, mostBytes);
  if (size > limit) throw ObjectTooLarge(limit);
}

/** The digest of a list of parts, by which a repeated completion is known. */
export function listDigest(list: readonly { readonly part_number: number; readonly etag: string }[]): Buffer {
  const hash = createHash('sha256');
  for (const { part_number, etag } of list) hash.update(`${part_number} ${etag}\n`);
  return hash.digest();
}

/** The list that names these parts. */
export const listOf = (parts: readonly PartRow[]) =>
  parts.map(({ part_number, sha256 }) => ({ part_number, etag: etagOf(sha256) }));
