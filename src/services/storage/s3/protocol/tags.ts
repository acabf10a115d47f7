/*
 * Clients of S3 take an entity tag without a dash for the MD5 of the content, and some refuse content whose MD5 it is not. The tags of
 * this service are made of SHA-256, so the façade writes those without a dash as if they were of a single part.
 */

/** The entity tag that clients see. */
export const shownTag = (etag: string): string => (etag.includes('-') ? etag : etag.replace(/"$/, '-1"'));

/** The tags of this service that a client may mean: `-1` is also that of content that was uploaded as a single part. */
function meantTags(text: string): string[] {
  const bare = text.replace(/^"(.*)"$/, '$1');
  return bare.endsWith('-1') ? [`"${bare.slice(0, -2)}"`, `"${bare}"`] : [`"${bare}"`];
}

/** Translates the value of `If-Match` and the like. Quotes may be missing, as S3 allows. */
export function meantCondition(header: string | undefined): string | undefined {
  if (header === undefined || header.trim() === '*') return header;
  return header
    .split(',')
    .flatMap((part) => {
      const [, weak = '', tag = ''] = /^\s*(W\/)?(.*?)\s*$/.exec(part) ?? [];
      return meantTags(tag).map((one) => weak + one);
    })
    .join(', ');
}

/** The tag of a part that a client names. */
export const meantPartTag = (text: string): string => meantTags(text.trim())[0]!;

/** Translates `If-Range`, which holds an entity tag or a time; of two tags that may be meant, the one that exists is taken. */
export function meantRangeCondition(header: string | undefined, etag: string): string | undefined {
  if (header === undefined || !/^"?[0-9a-f]{64}/.test(header)) return header;
  return meantTags(header).find((one) => one === etag) ?? header;
}
