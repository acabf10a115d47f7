import { createHash } from 'node:crypto';
import { Invalid } from '../../../lib/errors.ts';

/** The strong entity tag of content that is stored in one piece, from the digits of its SHA-256. */
export const etagOf = (sha256: string) => `"${sha256}"`;

/** The strong entity tag of content in parts, from the digits of the SHA-256 of each part in order. */
export function multipartEtag(sha256s: readonly string[]): string {
  const hash = createHash('sha256');
  for (const sha256 of sha256s) hash.update(sha256, 'hex');
  return `"${hash.digest('hex')}-${sha256s.length}"`;
}

/** The digits of the SHA-256 of a part, from its entity tag. */
export const sha256Of = (etag: string) => etag.slice(1, -1);

/** Entity tags as a client lists them; `*` means any. */
export type EntityTags = '*' | readonly EntityTag[];

export interface EntityTag {
  /** With its quotes. */
  readonly value: string;
  readonly weak: boolean;
}

const oneTag = /[ \t]*(W\/)?("[^"\0-\x20\x7f]*")[ \t]*(,|$)/y;

/** Reads the value of `If-Match` or `If-None-Match`. */
export function parseEntityTags(header: string): EntityTags {
  if (/^[ \t]*\*[ \t]*$/.test(header)) return '*';
  const tags: EntityTag[] = [];
  for (let at = 0; ; at = oneTag.lastIndex) {
    oneTag.lastIndex = at;
    const [, weak, value, separator] = oneTag.exec(header) ?? [];
    if (value === undefined) throw Invalid('invalid entity tag list');
    tags.push({ value, weak: weak !== undefined });
    if (separator === '') return tags;
  }
}

/** The comparison of `If-Match` and `If-Range`: weak tags never match. */
export const matchesStrongly = (tags: EntityTags, etag: string) =>
  tags === '*' || tags.some(({ value, weak }) => !weak && value === etag);

/** The comparison of `If-None-Match`: it does not matter whether a tag is weak. */
export const matchesWeakly = (tags: EntityTags, etag: string) =>
  tags === '*' || tags.some(({ value }) => value === etag);
