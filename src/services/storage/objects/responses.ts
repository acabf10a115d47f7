import type { StoredObject } from '../../../../generated/storage/types.ts';
import type { Reply } from '../../../http/context.ts';
import type { Span } from '../bytes/blob-reader.ts';
import { attachment, httpDate } from '../content/http-headers.ts';
import { metadataHeaders } from '../content/metadata.ts';
import type { ObjectRow } from './objects.store.ts';
import type { Kept } from './shelf.ts';

/** Uploaded pages must not run in the origin of the service. */
export const contentSecurityPolicy = "sandbox; default-src 'none'";

/** Sets the headers that tell which version of an object there is, and how it may be cached. */
export function versionHeaders(
  reply: Reply,
  { etag, checksum, last_modified, cache_control }: ObjectRow,
): void {
  reply.header('ETag', etag);
  reply.header('X-Store-Checksum', checksum);
  reply.header('Last-Modified', httpDate(last_modified));
  reply.header('Cache-Control', cache_control ?? 'private, no-cache');
}

/** Sets the headers that describe an object whose content, or a span of it, is sent. */
export function contentHeaders(
  reply: Reply,
  object: ObjectRow,
  span: Span,
  download: string | undefined = undefined,
): void {
  versionHeaders(reply, object);
  const { content_disposition, content_encoding, content_language, metadata } = object;
  const disposition = download === undefined ? content_disposition : attachment(download);
  reply.header('Content-Type', object.content_type);
  reply.header('Content-Length', span.end - span.start);
  reply.header('Accept-Ranges', 'bytes');
  reply.header('Content-Security-Policy', contentSecurityPolicy);
  if (disposition !== null) reply.header('Content-Disposition', disposition);
  if (content_encoding !== null) reply.header('Content-Encoding', content_encoding);
  if (content_language !== null) reply.header('Content-Language', content_language);
  for (const [name, value] of Object.entries(metadataHeaders(metadata))) reply.header(name, value);
}

/** Answers a write with the object and the headers that identify it. */
export function answerKept(reply: Reply, { replaced, ...kept }: Kept): StoredObject {
  reply.status(replaced ? 200 : 201);
  reply.header('ETag', kept.etag);
  reply.header('X-Store-Checksum', kept.checksum);
  reply.header('Last-Modified', httpDate(kept.last_modified));
  const { bucket, key, size, content_type, etag, last_modified, checksum, metadata } = kept;
  return { bucket, key, size, content_type, etag, last_modified, checksum, metadata };
}
