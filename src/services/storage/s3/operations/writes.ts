import { judgeRead } from '../../content/conditions.ts';
import { checkKey } from '../../content/object-key.ts';
import { ObjectNotFound } from '../../errors.ts';
import type { Found } from '../../objects/shelf.ts';
import { uriDecode } from '../protocol/encoding.ts';
import { s3Error } from '../protocol/errors.ts';
import { cut, type Target } from '../protocol/requests.ts';
import { shownTag } from '../protocol/tags.ts';
import { document, elements } from '../protocol/xml.ts';
import {
  type Answer,
  bucketOf,
  checkBound,
  emptyAnswer,
  objectOf,
  type S3Call,
  type S3Deps,
  taggedOf,
  xmlAnswer,
} from './call.ts';
import { fieldsOf } from './fields.ts';
import { readConditions, writeConditions } from './objects.ts';

/** PutObject: stores the content of the request. */
export async function putObject(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { request, query, content } = call;
  const key = checkKey(call.target.key);
  const fields = fieldsOf(request.headers, query);
  const current = () => bucketOf(deps, call);
  const destination = { bucket: await current(), current };
  await deps.shelf.put(call.author, destination, {
    key,
    fields,
    conditions: await writeConditions(deps, call),
    declaredSize: content.length,
    source: sourceOf(deps, call),
    md5: content.md5,
  });
  return emptyAnswer(200, { ETag: `"${content.md5()}"`, ...content.checksum() });
}

const dayMs = 24 * 3600 * 1000;

/** The content of a request, which ends only when all that was promised of it holds. */
export function sourceOf({ settings }: S3Deps, { request, content }: S3Call): AsyncIterable<Buffer> {
  // Chunks of a few bytes would make the body many times as long as the content.
  const bytes = content.isChunked ? 2 * content.length + 64 * 1024 : content.length;
  const body = request.body({ bytes, totalMs: dayMs, silenceMs: settings.idleTimeoutMs });
  return content.verified(body);
}

/** CopyObject: points the key to the content of another object. */
export async function copyObject(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { request, query, target } = call;
  const { headers } = request;
  const directive = String(headers['x-amz-metadata-directive'] ?? 'COPY');
  if (directive !== 'COPY' && directive !== 'REPLACE')
    throw s3Error('InvalidArgument', 'x-amz-metadata-directive must be COPY or REPLACE');
  const key = checkKey(target.key);
  const source = await sourceObject(deps, call);
  const bucket = await bucketOf(deps, call);
  const isSame = source.bucket.id === bucket.id && source.object.key === key;
  if (isSame && directive === 'COPY')
    throw s3Error('InvalidRequest', 'An object can be copied onto itself only to replace its metadata');
  const copied = await deps.shelf.copy(call.author, bucket, {
    source,
    key,
    fields: directive === 'COPY' ? undefined : fieldsOf(headers, query),
    conditions: await writeConditions(deps, call),
  });
  const { md5, object } = source;
  const tag = shownTag({ etag: copied.etag, size: object.size, md5, tag: null });
  const result = { LastModified: copied.last_modified, ETag: tag };
  return xmlAnswer(document('CopyObjectResult', elements(result)));
}

/** The object that `x-amz-copy-source` names, if the conditions for it hold. */
export async function sourceObject(deps: S3Deps, call: S3Call): Promise<Found> {
  const { headers } = call.request;
  call.checkRight('read');
  const source = await objectOf(deps, call, sourcePlace(String(headers['x-amz-copy-source'])));
  const tagged = await taggedOf(deps, call, source);
  const verdict = judgeRead(readConditions(headers, tagged, 'x-amz-copy-source-'), source.object);
  if (verdict !== 'proceed') throw s3Error('PreconditionFailed');
  return source;
}

/** `/bucket/key`, percent-encoded, the slash at the beginning optional. */
function sourcePlace(text: string): Pick<Target, 'bucket' | 'key'> {
  const [path, version] = cut(text, '?');
  if (version !== undefined && version !== 'versionId=null')
    throw s3Error('NotImplemented', 'Versions of objects are not supported');
  const [bucket, key] = cut(uriDecode(path).replace(/^\//, ''), '/');
  if (bucket === '' || key === undefined || key === '')
    throw s3Error('InvalidArgument', 'x-amz-copy-source must be /<bucket>/<key>');
  return { bucket, key };
}

/** DeleteObject: an object that does not exist counts as deleted. */
export async function deleteObject(deps: S3Deps, call: S3Call): Promise<Answer> {
  const key = checkKey(call.target.key);
  const bucket = await bucketOf(deps, call);
  checkBound(call, bucket);
  const conditions = await writeConditions(deps, call);
  const deleted = await deps.shelf.delete(call.author, bucket, [key], conditions);
  if (deleted.length === 0 && conditions.ifMatch !== undefined) throw ObjectNotFound();
  return emptyAnswer(204);
}
