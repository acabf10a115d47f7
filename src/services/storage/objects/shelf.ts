import type { Author } from '../../../db/write.ts';
import { batchedReads } from '../../../db/batched-reads.ts';
import type { Database } from '../../../db/index.ts';
import { DomainError, Unavailable } from '../../../lib/errors.ts';
import type { BucketRow, FoundBucket } from '../buckets/buckets.store.ts';
import type { BlobReader, Span } from '../bytes/blob-reader.ts';
import type { Incoming, Intake } from '../bytes/intake.ts';
import type { Transfers } from '../bytes/transfers.ts';
import { createCommitLines } from '../bytes/commit-lines.ts';
import { type ConditionHeaders, checkWrite, writeCondition } from '../content/conditions.ts';
import { etagOf } from '../content/entity-tag.ts';
import { BucketChanged, BucketNotFound, ContentNotFound } from '../errors.ts';
import type { Quotas } from '../quotas.ts';
import { defaultQuota, writer } from '../usage.ts';
import type { Settings } from '../settings.ts';
import { admit, checkSize, checkType, mostBytes } from './admission.ts';
import { deletionBatches } from './deletion-batches.ts';
import { type Listing, type ListingRequest, listingStore } from './listing.store.ts';
import {
  type Committed,
  type Found,
  type FoundOrNot,
  nameOfAsked,
  type NewObject,
  type ObjectFields,
  type ObjectRow,
  objectStore,
  type Place,
  type Put,
  type PutObject,
  type Segment,
} from './objects.store.ts';
import { plainFields } from './object-fields.ts';
import { createObjectReader } from './object-reader.ts';
import { recentObjects } from './recent-objects.ts';

export type { Found } from './objects.store.ts';

/** The result of a write. */
export interface Kept {
  /** The name of the bucket. */
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly checksum: string;
  readonly last_modified: string;
  readonly content_type: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether there was an object under the key before. */
  readonly replaced: boolean;
}

/** An object to store from the bytes of a request. */
export interface Putting extends Omit<Incoming, 'most' | 'tenant'> {
  readonly key: string;
  readonly fields: ObjectFields;
  readonly conditions?: ConditionHeaders;
  /** The size that the client declares. */
  readonly declaredSize?: number | undefined;
  /** A limit of this request, besides those of the bucket and the service. */
  readonly most?: number | undefined;
}

/** The bucket that content goes to. */
export interface Destination {
  /** As it was found, perhaps a while ago: then with its version. */
  readonly bucket: FoundBucket;
  /** Finds it as it is now. Throws when there is none any more. */
  current(): Promise<FoundBucket>;
}

/** What is copied: an object, or the content-addressed entry with this hash. */
export type CopySource = Found | { readonly sha256: string };

/** Where a copy goes. */
export interface Copying {
  readonly source: CopySource;
  readonly key: string;
  /** The type, headers and metadata; those of the source when undefined. */
  readonly fields: ObjectFields | undefined;
  readonly conditions?: ConditionHeaders;
}

/**
 * Everything that happens to objects, independent of the protocol that asks for it. Keys must have been checked. Its functions throw the
 * errors of the service.
 */
export interface Shelf {
  /** Finds a bucket, by name or by id, and the object in it, if there is one. Throws when there is no such bucket. */
  find(tenant: string, bucket: string, key: string): Promise<FoundOrNot>;
  /**
   * Begins to read a span of an object that was found; undefined when it has been replaced meanwhile and has to be found again. Rejects
   * when its first block is damaged or too much is being sent; later damage ends the bytes with an error. The bytes must be read to
   * their end or returned.
   */
  read(tenant: string, found: Found, span: Span): Promise<AsyncGenerator<Uint8Array, void> | undefined>;
  /** Checks what can be checked before the body is read, then receives and stores it. */
  put(author: Author, destination: Destination, putting: Putting): Promise<Kept>;
  /** Points another key to the same content. */
  copy(author: Author, bucket: BucketRow, copying: Copying): Promise<Kept>;
  /** Changes the given fields of an object, not its content. */
  update(
    author: Author,
    bucket: BucketRow,
    key: string,
    changes: Partial<ObjectFields>,
    conditions?: ConditionHeaders,
  ): Promise<Kept>;
  /**
   * Deletes objects and returns the keys of those that were there, all at once unless they have very many parts. With conditions, they
   * must hold for each of them.
   */
  delete(
    author: Author,
    bucket: BucketRow,
    keys: readonly string[],
    conditions?: ConditionHeaders,
  ): Promise<readonly string[]>;
  /** Lists the objects of a bucket, with a delimiter as a folder view. */
  list(tenant: string, bucket: BucketRow, request: ListingRequest): Promise<Listing>;
}

export interface ShelfDeps {
  readonly db: Database;
  readonly settings: Settings;
  readonly intake: Intake;
  readonly transfers: Transfers;
  readonly readBlob: BlobReader;
  readonly quotas: Quotas;
}

/** The most statements in flight that find objects, or buckets. */
export const readsAtOnce = 3;

export function createShelf({ db, settings, intake, transfers, readBlob, quotas }: ShelfDeps): Shelf {
  const store = objectStore(db.sql);
  const finding = batchedReads(recentObjects(store), nameOfAsked, readsAtOnce);
  const puts = createCommitLines<Place & { tenant: string }, Put, PutObject>({
    nameOf: ({ id, version }) => `${id} ${version ?? ''}`,
    together: ({ tenant, ...place }, writes) =>
      db.statement((sql) => objectStore(sql).putAll(tenant, place, writes, defaultQuota(settings))),
  });
  const read = createObjectReader({ db, transfers, readBlob });
  const commitOf = (author: Author, bucket: BucketRow, conditions: ConditionHeaders = {}) => ({
    author,
    bucketId: bucket.id,
    condition: writeCondition(conditions) ?? null,
    quota: defaultQuota(settings),
  });
  return {
    read,
    async find(tenant, bucket, key) {
      const found = await finding({ tenant, bucket, key });
      if (!found) throw BucketNotFound();
      return found;
    },

    async put(author, destination, { key, fields, conditions = {}, declaredSize, most, ...incoming }) {
      const arrival = { contentType: fields.content_type, size: declaredSize, most };
      const checked = async (bucket: FoundBucket) => {
        const limit = admit(settings, bucket, arrival);
        if (declaredSize === undefined || declaredSize > settings.inlineMax) {
          if (Object.values(conditions).some((header) => header !== undefined))
            checkWrite(conditions, (await this.find(author.tenant, bucket.id, key)).object);
          await quotas.checkRoom(author, bucket, declaredSize ?? 0, key);
        }
        return { bucket, limit };
      };
      const { bucket, limit } = await checked(destination.bucket).catch(async (error: unknown) => {
        if (!(error instanceof DomainError)) throw error;
        return await checked(await destination.current());
      });
      return await intake.take(
        { ...incoming, tenant: author.tenant, most: limit },
        async ({ blob, size, sha256 }) => {
          const object = { ...fields, key, size, etag: etagOf(sha256), checksum: `sha256:${sha256}` };
          const condition = writeCondition(conditions) ?? null;
          const put = { author: writer(author), object, blob, condition };
          const commitTo = (place: FoundBucket) =>
            quotas.noting(author, place, puts.commit({ ...placeOf(place), tenant: author.tenant }, put));
          const committed = await commitTo(bucket).catch(async (error: unknown) => {
            if (!isOutdated(error)) throw error;
            const now = await destination.current();
            admit(settings, now, { ...arrival, size });
            return await commitTo({ ...now, version: undefined });
          });
          return { ...keptOf(object, committed), blob_id: committed.blob_id };
        },
      );
    },

    async copy(author, bucket, { source, key, fields, conditions }) {
      const { tenant } = author;
      const original = 'object' in source ? source : await entry(tenant, source.sha256);
      const { size, etag, checksum } = original.object;
      const object: NewObject = { ...fieldsOf(fields ?? original.object), key, size, etag, checksum };
      checkType(bucket, object.content_type);
      checkSize(size > settings.maxObjectBytes ? undefined : size, mostBytes(settings, bucket));
      const places = await placesOf(tenant, original);
      const commit = db.statement((sql) =>
        objectStore(sql).copy(commitOf(author, bucket, conditions), object, places),
      );
      return keptOf(object, await quotas.noting(author, bucket, commit));
    },

    async update(author, bucket, key, changes, conditions) {
      if (changes.content_type !== undefined) checkType(bucket, changes.content_type);
      const object = await db.statement((sql) =>
        objectStore(sql).update(commitOf(author, bucket, conditions), key, changes),
      );
      return keptOf(object, {
        bucket: bucket.name,
        replaced: true,
        last_modified: object.last_modified,
      });
    },

    async delete(author, bucket, keys, conditions) {
      const commit = commitOf(author, bucket, conditions);
      const inParts = keys.length > 1 ? await store.inParts(author.tenant, bucket.id, keys) : [];
      const deleted: string[] = [];
      for (const batch of deletionBatches(keys, inParts))
        deleted.push(...(await db.statement((sql) => objectStore(sql).delete(commit, batch))));
      return deleted;
    },

    list: (tenant, bucket, request) => listingStore(db.sql).list(tenant, bucket.id, request),
  };

  async function entry(tenant: string, sha256: string) {
    const found = await store.entry(tenant, sha256);
    if (!found) throw ContentNotFound();
    const object = {
      ...plainFields,
      ...{ key: '', last_modified: '', segments: 0, etag: etagOf(sha256), checksum: `sha256:${sha256}` },
      ...found,
    };
    return { object };
  }

  /** The blob of an object, or the blobs of its parts. */
  async function placesOf(
    tenant: string,
    found: { object: ObjectRow; bucket?: BucketRow },
  ): Promise<{ blob_id: string | null; segments: readonly Segment[] | null }> {
    const { object, bucket } = found;
    if (object.segments === 0 || bucket === undefined) return { blob_id: object.blob_id, segments: null };
    const span = { start: 0, end: object.size };
    const segments = await store.segments(tenant, { bucket, object }, span);
    if (segments.length < object.segments) throw Unavailable('the source is being replaced');
    return { blob_id: null, segments };
  }
}

const placeOf = ({ id, version }: FoundBucket): Place => ({ id, version });

/** Whether the bucket is no longer the one by which a write was admitted. */
const isOutdated = (error: unknown): boolean =>
  error instanceof DomainError && error.message === BucketChanged().message;

const fieldsOf = (of: ObjectFields): ObjectFields => ({
  content_type: of.content_type,
  cache_control: of.cache_control,
  content_disposition: of.content_disposition,
  content_encoding: of.content_encoding,
  content_language: of.content_language,
  metadata: of.metadata,
});

const keptOf = (
  { key, size, etag, checksum, content_type, metadata }: NewObject,
  { bucket, replaced, last_modified }: Committed,
): Kept => ({ bucket, key, size, etag, checksum, last_modified, content_type, metadata, replaced });
