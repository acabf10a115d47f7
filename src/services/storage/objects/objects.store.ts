import { constrained } from '../../../db/constraints.ts';
import { givenTexts } from '../../../db/given.ts';
import type { Fragment, Sql } from '../../../db/index.ts';
import type { Author } from '../../../db/write.ts';
import { newId } from '../../../lib/ids.ts';
import { type BucketRow, columns as bucketColumns, referred } from '../buckets/buckets.store.ts';
import { blobMembers, type NewBlob, type ReadableBlob } from '../bytes/blobs.store.ts';
import { type Outcome, outcomeOf } from '../bytes/commit-lines.ts';
import type { WriteCondition } from '../content/conditions.ts';
import { constraints, ObjectNotFound } from '../errors.ts';
import { type DefaultQuota, writer } from '../usage.ts';
import type { Sized } from './deletion-batches.ts';

/** What is stored with content besides the content. */
export interface ObjectFields {
  readonly content_type: string;
  readonly cache_control: string | null;
  readonly content_disposition: string | null;
  readonly content_encoding: string | null;
  readonly content_language: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What content is, apart from what is stored with it. */
export interface Identity {
  readonly size: number;
  readonly etag: string;
  readonly checksum: string;
}

/** An object as it is stored. */
export interface ObjectRow extends ObjectFields, Identity {
  readonly key: string;
  readonly last_modified: string;
  readonly blob_id: string | null;
  /** The number of segments of content in parts, else 0. */
  readonly segments: number;
}

/** An object that was found, in its bucket. */
export interface Found {
  readonly bucket: BucketRow;
  readonly object: ObjectRow;
  /** Its blob, when there is one and its checksums are few enough to be read with the object. */
  readonly blob: ReadableBlob | undefined;
  /** The MD5 of the blob in hexadecimal digits, if it is known. */
  readonly md5: string | null;
  /** Changes with the bucket, the object and the blob. */
  readonly version: string;
}

/** What was found under a name in a bucket: perhaps no object. */
export type FoundOrNot = Found | { readonly bucket: BucketRow; readonly object?: undefined };

/** The place of a blob in an object. */
export interface Segment {
  readonly start: number;
  readonly size: number;
  readonly blob_id: string;
}

/** What a commit needs to know besides the object. */
export interface Commit {
  readonly author: Author;
  readonly bucketId: string;
  readonly condition: WriteCondition | null;
  readonly quota: DefaultQuota;
}

/** The outcome of a commit. */
export interface Committed {
  /** The name of the bucket. */
  readonly bucket: string;
  readonly replaced: boolean;
  readonly last_modified: string;
}

/** An object to commit. */
export type NewObject = Identity & ObjectFields & { readonly key: string };

/** An object that somebody looks for; the bucket by name or by id. */
export interface Asked {
  readonly tenant: string;
  readonly bucket: string;
  readonly key: string;
}

export const nameOfAsked = ({ tenant, bucket, key }: Asked): string => JSON.stringify([tenant, bucket, key]);

/** The bucket of a commit, which is refused when the bucket has another version than a given one. */
export interface Place {
  readonly id: string;
  readonly version?: string | undefined;
}

/** An object to store with the bytes of a request. */
export interface Put {
  /** Who puts it, as `writer` tells within the request: several requests share a commit. */
  readonly author: ReturnType<typeof writer>;
  readonly object: NewObject;
  /** Null for content without bytes. */
  readonly blob: NewBlob | null;
  readonly condition: WriteCondition | null;
}

/** An object that was put, and the blob that has its bytes. */
export type PutObject = Committed & { readonly blob_id: string | null };

/** The most bytes of checksums that are read together with the object. */
const mostSums = 4096;

/** Every statement about objects, but for their listings. */
export const objectStore = (sql: Sql) => ({
  /** Finds several objects, by their names: no entry without a bucket, and only the bucket when there is no such object. */
  async findAll(asked: readonly Asked[]): Promise<Map<string, FoundOrNot>> {
    const rows = await sql<FoundRow[]>`
      select place, ${version(sql)} as version, ${bucketColumns(sql, 'buckets')},
        objects.key as o_key, objects.blob_id as o_blob_id, objects.segments as o_segments, objects.size as o_size,
        objects.etag as o_etag, objects.checksum as o_checksum, objects.content_type as o_content_type,
        objects.cache_control as o_cache_control, objects.content_disposition as o_content_disposition,
        objects.content_encoding as o_content_encoding, objects.content_language as o_content_language,
        objects.metadata as o_metadata, objects.last_modified as o_last_modified,
        encode(blobs.md5, 'hex') as b_md5, blobs.id as b_id, blobs.size as b_size, blobs.content as b_content, blobs.state as b_state,
        case when octet_length(blobs.blocks) <= ${mostSums} then blobs.blocks end as b_blocks
      from ${askedRows(sql, asked)}`;
    return new Map(rows.map((row) => [nameOfAsked(asked[row.place - 1]!), foundIn(row)]));
  },

  /** The names of those objects that still have these versions. */
  async unchanged(asked: readonly Asked[], versions: readonly string[]): Promise<Set<string>> {
    const rows = await sql<{ place: number }[]>`
      select place from ${askedRows(sql, asked)}
      where ${version(sql)} = (${[...versions]}::text[])[place]`;
    return new Set(rows.map(({ place }) => nameOfAsked(asked[place - 1]!)));
  },

  /** The segments of an object that cover a span, if it is still the same one. */
  async segments(
    tenant: string,
    { bucket, object }: Pick<Found, 'bucket' | 'object'>,
    span: { readonly start: number; readonly end: number },
  ): Promise<Segment[]> {
    return await sql<Segment[]>`
      select segments.start, segments.size, segments.blob_id
      from storage.objects join storage.segments using (tenant_id, bucket_id, key)
      where tenant_id = ${tenant} and bucket_id = ${bucket.id} and key = ${object.key}
        and objects.etag = ${object.etag} and objects.last_modified = ${object.last_modified}
        and segments.start < ${span.end} and segments.start + segments.size > ${span.start}
      order by segments.start`;
  },

  /** Stores objects of one bucket with the bytes of a request each. Only a quota refuses all of them together. */
  async putAll(
    tenant: string,
    { id, version }: Place,
    puts: readonly Put[],
    quota: DefaultQuota,
  ): Promise<Outcome<PutObject>[]> {
    const rows = await constrained(
      constraints,
      sql<PutRow[]>`
        select bucket, replaced, last_modified, blob_id, refused
        from storage.put_objects(${tenant}, ${id}, ${version ?? null}, ${puts.map(putFields)}::jsonb, ${quota}::jsonb)
        order by place`,
    );
    return rows.map(({ refused, ...committed }) => outcomeOf(refused, committed));
  },

  /** Points a key to content that is stored already. */
  async copy(
    { author, bucketId, condition, quota }: Commit,
    { key, ...object }: NewObject,
    { blob_id, segments }: { readonly blob_id: string | null; readonly segments: readonly Segment[] | null },
  ): Promise<Committed> {
    const [row] = await constrained(
      constraints,
      sql<[Committed]>`
        select bucket, replaced, last_modified from storage.copy_object(
          ${author.tenant}, ${bucketId}, ${key}, ${object}::jsonb, ${blob_id}, ${segments}::jsonb, ${condition}::jsonb,
          ${quota}::jsonb, ${writer(author)}::jsonb, ${newId('evt')}
        )`,
    );
    return row;
  },

  async update(
    { author, bucketId, condition }: Omit<Commit, 'quota'>,
    key: string,
    changes: Partial<ObjectFields>,
  ): Promise<ObjectRow> {
    const [row] = await constrained(
      constraints,
      sql<ObjectRow[]>`
        select * from storage.update_object(
          ${author.tenant}, ${bucketId}, ${key}, ${changes}::jsonb, ${condition}::jsonb, ${writer(author)}::jsonb, ${newId('evt')}
        )`,
    );
    if (!row) throw ObjectNotFound();
    return row;
  },

  /** Those of the objects under these keys that have parts. */
  async inParts(tenant: string, bucketId: string, keys: readonly string[]): Promise<Sized[]> {
    return await sql<Sized[]>`
      select held.key, held.segments from unnest(${[...keys]}::text[]) as asked(key)
      cross join lateral (
        select key, segments from storage.objects
        where tenant_id = ${tenant} and bucket_id = ${bucketId} and key = asked.key collate "C" limit 1
      ) as held
      where held.segments > 0`;
  },

  /** Deletes objects and returns the keys of those that were there; `silently` without events. */
  async delete(
    { author, bucketId, condition, quota }: Commit,
    keys: readonly string[],
    silently = false,
  ): Promise<string[]> {
    const events = silently ? null : keys.map(() => newId('evt'));
    const [{ deleted }] = await constrained(
      constraints,
      sql<[{ deleted: string[] }]>`
        select storage.delete_objects(
          ${author.tenant}, ${bucketId}, ${[...keys]}::text[], ${condition}::jsonb, ${quota}::jsonb,
          ${writer(author)}::jsonb, ${events}::text[]
        ) as deleted`,
    );
    return deleted;
  },

  /** The first keys of a bucket, for its emptying. */
  async firstKeys(tenant: string, bucketId: string, limit: number): Promise<string[]> {
    const rows = await sql<{ key: string }[]>`
      select key from storage.objects where tenant_id = ${tenant} and bucket_id = ${bucketId} order by key limit ${limit}`;
    return rows.map(({ key }) => key);
  },

  /** A content-addressed entry as the source of a copy. */
  async entry(tenant: string, sha256: string): Promise<{ blob_id: string | null; size: number } | undefined> {
    const [row] = await sql<{ blob_id: string | null; size: number }[]>`
      select blob_id, size from storage.cas where tenant_id = ${tenant} and sha256 = ${Buffer.from(sha256, 'hex')}`;
    return row;
  },
});

type PutRow = PutObject & { readonly refused: string | null };

/** A put as the commit function takes it. */
const putFields = ({ author, object: { key, ...object }, blob, condition }: Put) => ({
  ...{ key, object, condition, author, event: newId('evt') },
  ...blobMembers(blob),
  sha256: blob?.sha256.toString('hex'),
});

/** The objects that are asked for with their buckets and blobs, as far as there are any. */
function askedRows(sql: Sql, asked: readonly Asked[]): Fragment {
  const each = (of: (one: Asked) => string) => asked.map(of);
  const names = [each(({ tenant }) => tenant), each(({ bucket }) => bucket), each(({ key }) => key)] as const;
  return sql`
    ${givenTexts(sql, ...names)} with ordinality as asked(tenant, ref, key, place)
    cross join lateral ${referred(sql)} as buckets
    left join lateral (
      select xmin, * from storage.objects
      where tenant_id = buckets.tenant_id and bucket_id = buckets.id and key = asked.key collate "C" limit 1
    ) as objects on true
    left join lateral (
      select xmin, * from storage.blobs where tenant_id = buckets.tenant_id and id = objects.blob_id limit 1
    ) as blobs on true`;
}

/** Names the versions of the three rows: every change makes a row that another transaction has written. */
const version = (sql: Sql): Fragment =>
  sql`concat_ws(' ', buckets.id, buckets.xmin, objects.etag, objects.xmin, blobs.id, blobs.xmin)`;

type FoundRow = BucketRow & { readonly place: number; readonly version: string } & {
  readonly [Name in keyof ObjectRow as `o_${Name}`]: ObjectRow[Name];
} & {
  readonly b_id: string | null;
  readonly b_size: number;
  readonly b_content: Uint8Array | null;
  readonly b_state: string;
  readonly b_blocks: Uint8Array | null;
  readonly b_md5: string | null;
};

function foundIn(row: FoundRow): FoundOrNot {
  if ((row.o_key as string | null) === null) return { bucket: row };
  const object: ObjectRow = {
    key: row.o_key,
    blob_id: row.o_blob_id,
    segments: row.o_segments,
    size: row.o_size,
    etag: row.o_etag,
    checksum: row.o_checksum,
    content_type: row.o_content_type,
    cache_control: row.o_cache_control,
    content_disposition: row.o_content_disposition,
    content_encoding: row.o_content_encoding,
    content_language: row.o_content_language,
    metadata: row.o_metadata,
    last_modified: row.o_last_modified,
  };
  const { b_id, b_size, b_content, b_state, b_blocks, b_md5: md5, version } = row;
  if (b_id === null || b_blocks === null) return { bucket: row, object, blob: undefined, md5, version };
  const is_damaged = b_state === 'damaged';
  const blob = { id: b_id, size: b_size, content: b_content, blocks: b_blocks, first_block: 0, is_damaged };
  return { bucket: row, object, blob, md5, version };
}
