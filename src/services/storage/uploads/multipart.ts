import type { Completion } from '../../../../generated/storage/types.ts';
import type { Database, Sql } from '../../../db/index.ts';
import type { Author } from '../../../db/write.ts';
import { Invalid, Unavailable } from '../../../lib/errors.ts';
import type { BucketRow } from '../buckets/buckets.store.ts';
import type { Span } from '../bytes/blob-reader.ts';
import type { Incoming, Intake } from '../bytes/intake.ts';
import { type ConditionHeaders, writeCondition } from '../content/conditions.ts';
import { etagOf } from '../content/entity-tag.ts';
import { UploadEnded, UploadNotFound } from '../errors.ts';
import { checkSize, checkType, mostBytes } from '../objects/admission.ts';
import type { ObjectFields } from '../objects/objects.store.ts';
import type { Found, Kept, Shelf } from '../objects/shelf.ts';
import type { Quotas } from '../quotas.ts';
import type { Settings } from '../settings.ts';
import { defaultQuota } from '../usage.ts';
import {
  assembled,
  type Assembly,
  checkExpected,
  checkObjectSize,
  checkPartSizes,
  chosenParts,
  listDigest,
  listOf,
  type PartRow,
} from './completion.ts';
import { type DatedPart, partStore } from './parts.store.ts';
import { type FoundUpload, type UploadRow, uploadStore } from './uploads.store.ts';

export type { FoundUpload } from './uploads.store.ts';

/** The content of a part. */
export interface PartContent extends Omit<Incoming, 'most' | 'tenant'> {
  /** The size that the client declares. */
  readonly declaredSize?: number | undefined;
}

/** What a completion asks for. */
export interface Completing extends Partial<Completion> {
  readonly conditions?: ConditionHeaders;
  /** Runs in the transaction that makes the object. */
  readonly alongside?: (sql: Sql, object: Assembly) => Promise<void>;
}

/** The object of an upload. */
export type Completed = Omit<Kept, 'replaced'>;

/** Everything that happens to uploads, independent of the protocol that asks for it. Its functions throw the errors of the service. */
export interface Multipart {
  /** Begins an upload of a key, which must have been checked. */
  begin(
    author: Author,
    bucket: BucketRow,
    fields: ObjectFields & { readonly key: string },
    lifetimeMs: number,
  ): Promise<FoundUpload>;
  /** Finds an upload; the bucket by name or by id. Throws when there is no such bucket or upload. */
  find(tenant: string, bucket: string, id: string): Promise<FoundUpload>;
  /** Checks what can be checked before the body is read, then receives and stores it. */
  putPart(author: Author, found: FoundUpload, number: number, content: PartContent): Promise<DatedPart>;
  /** Stores a part from an object, or from a span of it. A whole blob is shared; other bytes are copied. */
  copyPart(
    author: Author,
    found: FoundUpload,
    number: number,
    source: Found,
    span?: Span,
  ): Promise<DatedPart>;
  /** Makes an upload its object. Repeating it with the same list returns the object again. */
  complete(author: Author, found: FoundUpload, request: Completing): Promise<Completed>;
  abort(author: Author, found: FoundUpload): Promise<void>;
}

export interface MultipartDeps {
  readonly db: Database;
  readonly settings: Settings;
  readonly intake: Intake;
  readonly quotas: Quotas;
  readonly shelf: Shelf;
}

export function createMultipart({ db, settings, intake, quotas, shelf }: MultipartDeps): Multipart {
  const quota = defaultQuota(settings);
  const changeOf = (author: Author, { bucket, upload }: FoundUpload) => ({
    author,
    bucketId: bucket.id,
    id: upload.id,
    quota,
  });
  const placeOf = ({ tenant }: Author, { bucket, upload }: FoundUpload, number: number) => ({
    ...{ tenant, bucketId: bucket.id, id: upload.id, number, quota },
  });

  async function find(tenant: string, bucket: string, id: string): Promise<FoundUpload> {
    const found = await uploadStore(db.sql).find(tenant, bucket, id);
    if (!found) throw UploadNotFound();
    return found;
  }

  async function putPart(
    author: Author,
    found: FoundUpload,
    number: number,
    { declaredSize, ...incoming }: PartContent,
  ): Promise<DatedPart> {
    const { bucket, upload } = found;
    const most = mostBytes(settings, bucket);
    checkOpen(upload);
    checkSize(declaredSize, most);
    // A part that replaces another one may need less room; only the commit knows how much.
    if (upload.uploaded_parts === 0) await quotas.checkRoom(author, bucket, declaredSize ?? 0);
    return await intake.take({ ...incoming, tenant: author.tenant, most }, async (received) => {
      const commit = db.transaction((sql) => partStore(sql).put(placeOf(author, found, number), received));
      const { blob_id, uploaded_at } = await quotas.noting(author, bucket, commit);
      return { part_number: number, size: received.size, sha256: received.sha256, uploaded_at, blob_id };
    });
  }

  /** Reads the source only once its bytes are asked for, so that a refusal leaves nothing open. */
  async function* bytesOf(tenant: string, source: Found, span: Span): AsyncGenerator<Uint8Array, void> {
    const pieces = await shelf.read(tenant, source, span);
    if (!pieces) throw Unavailable('the source is being replaced');
    yield* pieces;
  }

  return {
    find,
    putPart,

    async begin(author, bucket, fields, lifetimeMs) {
      checkType(bucket, fields.content_type);
      const id = await db.transaction((sql) =>
        uploadStore(sql).create({ author, bucketId: bucket.id, quota }, fields, lifetimeMs),
      );
      return await find(author.tenant, bucket.id, id);
    },

    async copyPart(author, found, number, source, span) {
      const { size, segments, blob_id } = source.object;
      const { start, end } = span ?? { start: 0, end: size };
      const most = mostBytes(settings, found.bucket);
      checkOpen(found.upload);
      checkSize(end - start, most);
      if (blob_id !== null && segments === 0 && end - start === size) {
        const commit = db.transaction((sql) => partStore(sql).point(placeOf(author, found, number), blob_id));
        return { part_number: number, ...(await quotas.noting(author, found.bucket, commit)) };
      }
      const declaredSize = end - start;
      return await putPart(author, found, number, {
        source: bytesOf(author.tenant, source, { start, end }),
        declaredSize,
      });
    },

    async complete(author, found, { conditions = {}, alongside, ...request }) {
      const { bucket, upload } = found;
      const condition = writeCondition(conditions);
      const completion = db.transaction(async (sql) => {
        const locked = await uploadStore(sql).lock(author.tenant, bucket.id, upload.id);
        if (locked.status === 'completed') return repeated(found.bucket, locked, request);
        checkOpen(locked);
        const all = await partStore(sql).all(author.tenant, upload.id);
        const parts = chosenParts(all, request);
        checkPartSizes(parts, settings.minPartBytes);
        const object = assembled(parts);
        checkExpected(object, request);
        checkObjectSize(object, bucket.max_object_bytes);
        const last_modified = await uploadStore(sql).complete(
          changeOf(author, found),
          numbersWithout(all, parts),
          object,
          { condition, completion: listDigest(listOf(parts)) },
        );
        await alongside?.(sql, object);
        return completedOf(bucket, locked, object, last_modified);
      });
      return await quotas.noting(author, bucket, completion);
    },

    abort: (author, found) => db.transaction((sql) => uploadStore(sql).abort(changeOf(author, found))),
  };
}

/** @throws Conflict for an upload that has ended */
function checkOpen({ status }: UploadRow): void {
  if (status !== 'pending' && status !== 'active') throw UploadEnded(status);
}

/** The object of an upload that was completed before, when the request asks for the same one. */
function repeated(bucket: BucketRow, upload: UploadRow, request: Partial<Completion>): Completed {
  const object = upload.result!;
  const list = request.parts ?? undefined;
  const isSame = list
    ? listDigest(list).equals(upload.completion!)
    : object.etag.endsWith(`-${upload.uploaded_parts}"`);
  if (!isSame) throw UploadEnded('completed');
  checkExpected(object, request);
  return completedOf(bucket, upload, object, upload.completed_at!);
}

/** The numbers of the parts that are not in the object. */
function numbersWithout(all: readonly PartRow[], chosen: readonly PartRow[]): number[] {
  const kept = new Set(chosen);
  return all.filter((part) => !kept.has(part)).map(({ part_number }) => part_number);
}

const completedOf = (
  { name: bucket }: BucketRow,
  { key, content_type, metadata }: UploadRow,
  { size, etag, checksum }: Assembly,
  last_modified: string,
): Completed => ({ bucket, key, size, content_type, etag, last_modified, checksum, metadata });

/** The span that a range such as `bytes=0-499` of a source means. It must lie within the source, so that no part is short. */
export function sourceSpan(range: string, size: number): Span {
  const [, first, last] = /^bytes=([0-9]{1,16})-([0-9]{1,16})$/.exec(range) ?? [];
  if (first === undefined || last === undefined) throw Invalid('source_range: must be like bytes=0-499');
  const [start, end] = [Number(first), Number(last) + 1];
  if (end <= start) throw Invalid('source_range: must not end before it begins');
  if (end > size) throw Invalid(`source_range: ends after the ${size} bytes of the source`);
  return { start, end };
}

/** The entity tag of a stored part. */
export const partEtag = ({ sha256 }: Pick<DatedPart, 'sha256'>) => etagOf(sha256);
