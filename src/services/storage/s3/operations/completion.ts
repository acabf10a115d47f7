import type { FoundUpload } from '../../uploads/multipart.ts';
import { uriEncodePath } from '../protocol/encoding.ts';
import { s3Error } from '../protocol/errors.ts';
import { bareTag, md5Of, shownTag, tagOfParts } from '../protocol/tags.ts';
import { childrenOf, type Element, readXml, textOf } from '../protocol/xml-reader.ts';
import { document, elements } from '../protocol/xml.ts';
import { type Answer, type S3Call, type S3Deps, xmlAnswer } from './call.ts';
import { writeConditions } from './objects.ts';
import { type TaggedPart, tagStore } from './tags.store.ts';
import { uploadOf } from './uploads.ts';

/** A part in the list of a completion, as the client names it. */
interface Listed {
  readonly number: number;
  readonly tag: string;
  readonly sha256: string | undefined;
}

/** CompleteMultipartUpload: the listed parts become the object, and others are dropped, as S3 does. */
export async function completeMultipartUpload(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { bucket, key } = call.target;
  const root = await readXml(call.document, 'CompleteMultipartUpload');
  const named = childrenOf(root, 'Part');
  if (named.length === 0 || named.length > mostParts)
    throw s3Error('MalformedXML', `The body must name from 1 to ${mostParts} parts`);
  const listed = named.map(listedPart);
  const found = await uploadOf(deps, call);
  const tag =
    (await repeatedTag(deps, call, found, listed)) ?? (await completeOnce(deps, call, found, listed));
  const location = { Location: `/${bucket}/${uriEncodePath(key)}`, Bucket: bucket, Key: key };
  return xmlAnswer(document('CompleteMultipartUploadResult', elements({ ...location, ETag: tag })));
}

const mostParts = 10_000;

function listedPart(part: Element): Listed {
  const number = textOf(part, 'PartNumber')?.trim() ?? '';
  const tag = textOf(part, 'ETag');
  if (!/^[0-9]{1,5}$/.test(number) || tag === undefined)
    throw s3Error('MalformedXML', 'A part must have a PartNumber and an ETag');
  return { number: Number(number), tag: bareTag(tag), sha256: textOf(part, 'ChecksumSHA256')?.trim() };
}

/** Completes an upload, also when the same request is at work twice: the second one finds what the first one made. */
async function completeOnce(...[deps, call, found, listed]: Parameters<typeof complete>): Promise<string> {
  try {
    return await complete(deps, call, found, listed);
  } catch (error) {
    const tag = await repeatedTag(deps, call, await uploadOf(deps, call), listed);
    if (tag === undefined) throw error;
    return tag;
  }
}

/** Completes an upload and returns the entity tag of its object. */
async function complete(
  deps: S3Deps,
  call: S3Call,
  found: FoundUpload,
  listed: readonly Listed[],
): Promise<string> {
  const { request, author } = call;
  const stored = new Map(
    (await tagStore(deps.db.sql).parts(author.tenant, found.upload.id, 0, mostParts)).map((part) => [
      part.part_number,
      part,
    ]),
  );
  const md5s = listed.flatMap(({ number }) => {
    const part = stored.get(number);
    return (part && md5Of(part)) ?? [];
  });
  const tag = md5s.length === listed.length ? tagOfParts(md5s) : null;
  const { etag, size } = await deps.multipart.complete(author, found, {
    parts: listed.map((one) => ({ part_number: one.number, etag: meantPart(one, stored.get(one.number)) })),
    allow_subset: true,
    size: sizeOf(request.headers['x-amz-mp-object-size']),
    checksum: checksumOf(request.headers),
    conditions: await writeConditions(deps, call),
    // A completion that is repeated because its response was lost is known by the tag.
    alongside: async (sql, object) => {
      if (tag !== null)
        await tagStore(sql).keep(author.tenant, found.bucket.id, found.upload.key, object.etag, tag);
    },
  });
  return shownTag({ etag, size, md5: null, tag });
}

/** The tag of this service for a part that a client names. */
function meantPart({ number, tag, sha256 }: Listed, part: TaggedPart | undefined): string {
  const isShown = part !== undefined && bareTag(shownTag(part)) === tag;
  const etag = isShown ? part.etag : `"${tag}"`;
  if (sha256 !== undefined && `"${Buffer.from(sha256, 'base64').toString('hex')}"` !== etag)
    throw s3Error('InvalidPart', `The checksum of part ${number} is not that of the part`);
  return etag;
}

/** The tag of the object of an upload that was completed with the same list before, so that a repeated request succeeds. */
async function repeatedTag(
  { db }: S3Deps,
  { author }: S3Call,
  { bucket, upload }: FoundUpload,
  listed: readonly Listed[],
): Promise<string | undefined> {
  if (upload.status !== 'completed' || !listed.every(({ tag }) => /^[0-9a-f]{32}$/.test(tag)))
    return undefined;
  const tag = tagOfParts(listed.map(({ tag }) => tag));
  const kept = await tagStore(db.sql).find(author.tenant, bucket.id, upload.key, upload.result!.etag);
  return kept === tag ? `"${tag}"` : undefined;
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
  if (typeof given !== 'string') return null;
  const bytes = Buffer.from(given, 'base64');
  if (bytes.length !== 4 || headers['x-amz-checksum-type'] === 'COMPOSITE')
    throw s3Error('InvalidRequest', 'x-amz-checksum-crc32c must be that of the whole object');
  return `crc32c:${bytes.toString('hex')}`;
}
