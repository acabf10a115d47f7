import type { Completion } from '../../../../../generated/storage/types.ts';
import { checkKey } from '../../content/object-key.ts';
import { sourceSpan } from '../../uploads/multipart.ts';
import { partEtag, type FoundUpload } from '../../uploads/multipart.ts';
import { partStore } from '../../uploads/parts.store.ts';
import { uriEncodePath } from '../protocol/encoding.ts';
import { s3Error } from '../protocol/errors.ts';
import { meantPartTag, shownTag } from '../protocol/tags.ts';
import { childrenOf, type Element, readXml, textOf } from '../protocol/xml-reader.ts';
import { document, element, elements } from '../protocol/xml.ts';
import { type Answer, bucketOf, emptyAnswer, type S3Call, type S3Deps, xmlAnswer } from './call.ts';
import { openUploadStore } from './open-uploads.store.ts';
import { fieldsOf } from './fields.ts';
import { writeConditions } from './objects.ts';
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
async function uploadOf(deps: S3Deps, call: S3Call): Promise<FoundUpload> {
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
  const part = await deps.multipart.putPart(call.author, found, number, {
    source,
    declaredSize: call.content.length,
  });
  return emptyAnswer(200, { ETag: shownTag(partEtag(part)), ...call.content.checksum() });
}

/** UploadPartCopy: stores an object, or a range of it, as a part. */
export async function uploadPartCopy(deps: S3Deps, call: S3Call): Promise<Answer> {
  const number = partNumberOf(call);
  const found = await uploadOf(deps, call);
  const source = await sourceObject(deps, call);
  const range = call.request.headers['x-amz-copy-source-range'];
  const span = range === undefined ? undefined : sourceSpan(String(range), source.object.size);
  const part = await deps.multipart.copyPart(call.author, found, number, source, span);
  const result = { LastModified: part.uploaded_at, ETag: shownTag(partEtag(part)) };
  return xmlAnswer(document('CopyPartResult', elements(result)));
}

/** CompleteMultipartUpload: the listed parts become the object, and others are dropped, as S3 does. */
export async function completeMultipartUpload(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { request, target, author } = call;
  const root = await readXml(call.document, 'CompleteMultipartUpload');
  const parts = childrenOf(root, 'Part').map(partOf);
  if (parts.length === 0 || parts.length > 10_000)
    throw s3Error('MalformedXML', 'The body must name from 1 to 10000 parts');
  const found = await uploadOf(deps, call);
  const { etag } = await deps.multipart.complete(author, found, {
    parts,
    allow_subset: true,
    size: sizeOf(request.headers['x-amz-mp-object-size']),
    checksum: checksumOf(request.headers),
    conditions: writeConditions(request.headers),
  });
  const { bucket, key } = target;
  const location = { Location: `/${bucket}/${uriEncodePath(key)}`, Bucket: bucket, Key: key };
  return xmlAnswer(
    document('CompleteMultipartUploadResult', elements({ ...location, ETag: shownTag(etag) })),
  );
}

function partOf(part: Element): NonNullable<Completion['parts']>[number] {
  const number = textOf(part, 'PartNumber')?.trim() ?? '';
  const tag = textOf(part, 'ETag');
  if (!/^[0-9]{1,5}$/.test(number) || tag === undefined)
    throw s3Error('MalformedXML', 'A part must have a PartNumber and an ETag');
  const sha256 = textOf(part, 'ChecksumSHA256');
  const etag = meantPartTag(tag);
  if (sha256 !== undefined && `"${Buffer.from(sha256.trim(), 'base64').toString('hex')}"` !== etag)
    throw s3Error('InvalidPart', `The checksum of part ${number} is not that of the part`);
  return { part_number: Number(number), etag };
}

function sizeOf(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  if (typeof header !== 'string' || !/^[0-9]{1,15}$/.test(header))
    throw s3Error('InvalidArgument', 'x-amz-mp-object-size must be a number of bytes');
  return Number(header);
}

/** Of a whole object in parts only the CRC32C can be known without reading it again. */
function checksumOf(headers: Readonly<Record<string, unknown>>): string | null {
  const others = ['crc32', 'crc64nvme', 'sha1', 'sha256'].filter(
    (name) => headers[`x-amz-checksum-${name}`] !== undefined,
  );
  if (others.length > 0)
    throw s3Error('NotImplemented', 'Of an object in parts only x-amz-checksum-crc32c can be verified');
  const given = headers['x-amz-checksum-crc32c'];
  if (given === undefined) return null;
  const bytes = Buffer.from(String(given), 'base64');
  if (bytes.length !== 4 || headers['x-amz-checksum-type'] === 'COMPOSITE')
    throw s3Error('InvalidRequest', 'x-amz-checksum-crc32c must be that of the whole object');
  return `crc32c:${bytes.toString('hex')}`;
}

/** AbortMultipartUpload. */
export async function abortMultipartUpload(deps: S3Deps, call: S3Call): Promise<Answer> {
  await deps.multipart.abort(call.author, await uploadOf(deps, call));
  return emptyAnswer(204);
}

/** ListParts. */
export async function listParts(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { query, target, author } = call;
  const after = query.integer('part-number-marker', { fallback: 0, most: 10_000 });
  const limit = query.integer('max-parts', { fallback: 1000, least: 1, most: 1000 });
  const { upload } = await uploadOf(deps, call);
  if (upload.status !== 'pending' && upload.status !== 'active') throw s3Error('NoSuchUpload');
  const found = await partStore(deps.db.sql).list(author.tenant, upload.id, after, limit);
  const parts = found.slice(0, limit);
  const isTruncated = found.length > limit;
  const rows = parts.map((part) =>
    element(
      'Part',
      elements({
        PartNumber: part.part_number,
        LastModified: part.uploaded_at,
        ETag: shownTag(partEtag(part)),
        Size: part.size,
      }),
    ),
  );
  const members = {
    ...{ Bucket: target.bucket, Key: target.key, UploadId: upload.id, StorageClass: 'STANDARD' },
    PartNumberMarker: after,
    NextPartNumberMarker: isTruncated ? parts.at(-1)!.part_number : undefined,
    ...{ MaxParts: limit, IsTruncated: isTruncated },
  };
  const owner = elements({ ID: author.tenant, DisplayName: author.tenant });
  return xmlAnswer(
    document('ListPartsResult', [
      elements(members),
      element('Initiator', owner),
      element('Owner', owner),
      rows,
    ]),
  );
}

/** ListMultipartUploads: the open ones, by key. */
export async function listMultipartUploads(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { query, target, author } = call;
  if (query.get('delimiter'))
    throw s3Error('NotImplemented', 'Uploads are not grouped: delimiter is not supported');
  const prefix = query.get('prefix') ?? '';
  const [key, id] = [query.get('key-marker') ?? '', query.get('upload-id-marker') ?? ''];
  const limit = query.integer('max-uploads', { fallback: 1000, least: 1, most: 1000 });
  const encode = query.get('encoding-type') === 'url' ? uriEncodePath : (text: string) => text;
  if ([prefix, key, id].some((text) => text.includes('\0')))
    throw s3Error('InvalidArgument', 'The parameters must not contain U+0000');
  const bucket = await bucketOf(deps, call);
  const found = await openUploadStore(deps.db.sql).list(author.tenant, bucket.id, { prefix, key, id, limit });
  const uploads = found.slice(0, limit);
  const last = found.length > limit ? uploads.at(-1) : undefined;
  const owner = elements({ ID: author.tenant, DisplayName: author.tenant });
  const rows = uploads.map((upload) =>
    element('Upload', [
      elements({ Key: encode(upload.key), UploadId: upload.id }),
      element('Initiator', owner),
      element('Owner', owner),
      elements({ StorageClass: 'STANDARD', Initiated: upload.created_at }),
    ]),
  );
  const members = {
    ...{ Bucket: target.bucket, KeyMarker: encode(key), UploadIdMarker: id, Prefix: encode(prefix) },
    EncodingType: query.get('encoding-type'),
    NextKeyMarker: last && encode(last.key),
    NextUploadIdMarker: last?.id,
    ...{ MaxUploads: limit, IsTruncated: last !== undefined },
  };
  return xmlAnswer(document('ListMultipartUploadsResult', [elements(members), rows]));
}
