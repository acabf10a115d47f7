import { checkKey } from '../../content/object-key.ts';
import { type FoundUpload, partEtag, sourceSpan } from '../../uploads/multipart.ts';
import { s3Error } from '../protocol/errors.ts';
import { shownTag } from '../protocol/tags.ts';
import { document, elements } from '../protocol/xml.ts';
import { type Answer, bucketOf, emptyAnswer, type S3Call, type S3Deps, xmlAnswer } from './call.ts';
import { fieldsOf } from './fields.ts';
import { tagStore } from './tags.store.ts';
import { sourceObject, sourceOf } from './writes.ts';

/** How long an upload may take before it expires. */
const lifetimeMs = 7 * 24 * 3600 * 1000;

/** CreateMultipartUpload. */
export async function createMultipartUpload(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { target, request, query, author } = call;
  const key = checkKey(target.key);
  const fields = { ...fieldsOf(request.headers, query), key };
  const bucket = await bucketOf(deps, call);
  const { upload } = await deps.multipart.begin(author, bucket, fields, lifetimeMs);
  const result = { Bucket: target.bucket, Key: key, UploadId: upload.id };
  return xmlAnswer(document('InitiateMultipartUploadResult', elements(result)));
}

/** Finds the upload that a request names, in its bucket and under its key. */
export async function uploadOf(deps: S3Deps, call: S3Call): Promise<FoundUpload> {
  const { id } = await bucketOf(deps, call);
  const uploadId = call.query.get('uploadId') ?? '';
  if (!/^upl_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(uploadId)) throw s3Error('NoSuchUpload');
  const found = await deps.multipart.find(call.author.tenant, id, uploadId);
  if (found.upload.key !== call.target.key) throw s3Error('NoSuchUpload');
  return found;
}

function partNumberOf({ query }: S3Call): number {
  const text = query.get('partNumber') ?? '';
  const number = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 10_000)
    throw s3Error('InvalidArgument', 'partNumber must be a number from 1 to 10000');
  return number;
}

/** UploadPart: stores the content of the request as a part. */
export async function uploadPart(deps: S3Deps, call: S3Call): Promise<Answer> {
  const number = partNumberOf(call);
  const found = await uploadOf(deps, call);
  const source = sourceOf(deps, call);
  await deps.multipart.putPart(call.author, found, number, {
    source,
    declaredSize: call.content.length,
    md5: call.content.md5,
  });
  return emptyAnswer(200, { ETag: `"${call.content.md5()}"`, ...call.content.checksum() });
}

/** UploadPartCopy: stores an object, or a range of it, as a part. */
export async function uploadPartCopy(deps: S3Deps, call: S3Call): Promise<Answer> {
  const number = partNumberOf(call);
  const found = await uploadOf(deps, call);
  const source = await sourceObject(deps, call);
  const range = call.request.headers['x-amz-copy-source-range'];
  const span = range === undefined ? undefined : sourceSpan(String(range), source.object.size);
  const part = await deps.multipart.copyPart(call.author, found, number, source, span);
  const [stored] = await tagStore(deps.db.sql).parts(call.author.tenant, found.upload.id, number - 1, 1);
  const isSame = stored?.part_number === number && stored.etag === partEtag(part);
  const tagged = isSame ? stored : { etag: partEtag(part), size: part.size, md5: null, tag: null };
  const result = { LastModified: part.uploaded_at, ETag: shownTag(tagged) };
  return xmlAnswer(document('CopyPartResult', elements(result)));
}

/** AbortMultipartUpload. */
export async function abortMultipartUpload(deps: S3Deps, call: S3Call): Promise<Answer> {
  await deps.multipart.abort(call.author, await uploadOf(deps, call));
  return emptyAnswer(204);
}
