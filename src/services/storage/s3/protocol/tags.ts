import { createHash } from 'node:crypto';

/*
 * Clients of S3 take an entity tag for the MD5 of the content, or for the MD5 of the MD5s of its parts, and some refuse content whose
 * tag is another. The tags of this service are made of SHA-256. So the façade shows MD5s, which it knows of everything that arrived
 * through it; other content has tags with a dash, which clients do not take for an MD5.
 */

/** What there is to know about the tag of content. */
export interface Tagged {
  readonly etag: string;
  readonly size: number;
  /** The MD5 of content that is in one piece, if it is known. */
  readonly md5: string | null;
  /** The tag of content in parts, if it is known. */
  readonly tag: string | null;
}

const emptyMd5 = createHash('md5').digest('hex');

/** The MD5 of content in one piece, if it is known. */
export const md5Of = ({ size, md5 }: Tagged): string | null => (size === 0 ? emptyMd5 : md5);

/** The entity tag that clients see. */
export function shownTag(tagged: Tagged): string {
  const { etag, tag } = tagged;
  if (etag.includes('-')) return tag === null ? etag : `"${tag}"`;
  const md5 = md5Of(tagged);
  return md5 === null ? etag.replace(/"$/, '-1"') : `"${md5}"`;
}

/** The entity tag of content in parts with these MD5s. */
export function tagOfParts(md5s: readonly string[]): string {
  const hash = createHash('md5');
  for (const md5 of md5s) hash.update(md5, 'hex');
  return `${hash.digest('hex')}-${md5s.length}`;
}

/** A tag without its quotes, which clients may leave out. */
export const bareTag = (text: string): string => text.trim().replace(/^"(.*)"$/, '$1');

/** Translates the tags in a condition, such as `If-Match`, to those of this service: the one that is shown means the real one. */
export function meantCondition(header: string | undefined, tagged: Tagged | undefined): string | undefined {
  if (header === undefined || header.trim() === '*') return header;
  const shown = tagged && bareTag(shownTag(tagged));
  return header
    .split(',')
    .map((part) => {
      const [, weak = '', text = ''] = /^\s*(W\/)?(.*)$/.exec(part) ?? [];
      const bare = bareTag(text);
      return weak + (tagged && bare === shown ? tagged.etag : `"${bare}"`);
    })
    .join(', ');
}

/** Translates `If-Range`, which holds an entity tag or a time. */
export const meantRangeCondition = (header: string | undefined, tagged: Tagged): string | undefined =>
  header !== undefined && bareTag(header) === bareTag(shownTag(tagged)) ? tagged.etag : header;
