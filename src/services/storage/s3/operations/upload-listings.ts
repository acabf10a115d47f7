import { uriEncodePath } from '../protocol/encoding.ts';
import { s3Error } from '../protocol/errors.ts';
import { shownTag } from '../protocol/tags.ts';
import { document, element, elements } from '../protocol/xml.ts';
import { type Answer, bucketOf, type S3Call, type S3Deps, xmlAnswer } from './call.ts';
import { openUploadStore } from './open-uploads.store.ts';
import { tagStore } from './tags.store.ts';
import { uploadOf } from './uploads.ts';

/** ListParts. */
export async function listParts(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { query, target, author } = call;
  const after = query.integer('part-number-marker', { fallback: 0, most: 10_000 });
  const limit = query.integer('max-parts', { fallback: 1000, least: 1, most: 1000 });
  const { upload } = await uploadOf(deps, call);
  if (upload.status !== 'pending' && upload.status !== 'active') throw s3Error('NoSuchUpload');
  const found = await tagStore(deps.db.sql).parts(author.tenant, upload.id, after, limit + 1);
  const parts = found.slice(0, limit);
  const isTruncated = found.length > limit;
  const rows = parts.map((part) =>
    element(
      'Part',
      elements({
        PartNumber: part.part_number,
        LastModified: part.uploaded_at,
        ETag: shownTag(part),
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
