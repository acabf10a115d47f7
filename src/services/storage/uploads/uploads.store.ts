import type { UploadStatus } from '../../../../generated/storage/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Fragment, Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import type { Author } from '../../../db/write.ts';
import { newId } from '../../../lib/ids.ts';
import { type BucketRow, columns as bucketColumns, named } from '../buckets/buckets.store.ts';
import { constraints, UploadNotFound } from '../errors.ts';
import type { ObjectFields } from '../objects/objects.store.ts';
import { type DefaultQuota, writer } from '../usage.ts';
import type { Assembly } from './completion.ts';

/** An upload as it is stored. */
export interface UploadRow extends ObjectFields {
  readonly id: string;
  readonly bucket_id: string;
  readonly key: string;
  readonly status: UploadStatus;
  readonly uploaded_parts: number;
  readonly uploaded_bytes: number;
  /** The digest of the list of parts that completed it, and its object. */
  readonly completion: Uint8Array | null;
  readonly result: Assembly | null;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly completed_at: string | null;
}

/** An upload that was found, in its bucket. */
export interface FoundUpload {
  readonly bucket: BucketRow;
  readonly upload: UploadRow;
}

export interface UploadFilter {
  readonly status: UploadStatus | undefined;
  readonly prefix: string | undefined;
}

/** An upload and its change. */
export interface UploadChange {
  readonly author: Author;
  readonly bucketId: string;
  readonly id: string;
  readonly quota: DefaultQuota;
}

/** Every statement about uploads. */
export const uploadStore = (sql: Sql) => ({
  /** Begins an upload and returns its id. */
  async create(
    { author, bucketId, quota }: Omit<UploadChange, 'id'>,
    fields: ObjectFields & { readonly key: string },
    lifetimeMs: number,
  ): Promise<string> {
    const id = newId('upl');
    await constrained(
      constraints,
      sql`
        select storage.create_upload(
          ${author.tenant}, ${bucketId}, ${{ ...fields, id }}::jsonb, ${lifetimeMs} * interval '1 millisecond', ${quota}::jsonb,
          ${writer(author)}::jsonb, ${newId('evt')}
        )`,
    );
    return id;
  },

  /** Finds an upload in its bucket, which is named by its name or its id. */
  async find(tenant: string, bucket: string, id: string): Promise<FoundUpload | undefined> {
    const [row] = await sql<BucketRow[]>`
      select ${bucketColumns(sql, 'buckets')}, upload.*
      from storage.buckets cross join lateral (
        select ${columns(sql, 'u_')} from storage.uploads
        where uploads.tenant_id = ${tenant} and uploads.id = ${id} and uploads.bucket_id = buckets.id and ${isKept(sql)}
      ) as upload
      where buckets.tenant_id = ${tenant} and ${named(sql, bucket)}`;
    return row && { bucket: row, upload: uploadIn(row) };
  },

  /** Locks an upload for the rest of the transaction: no part is stored meanwhile. */
  async lock(tenant: string, bucketId: string, id: string): Promise<UploadRow> {
    const [upload] = await sql<UploadRow[]>`
      select ${columns(sql)} from storage.uploads
      where tenant_id = ${tenant} and id = ${id} and bucket_id = ${bucketId} and ${isKept(sql)}
      for no key update`;
    if (!upload) throw UploadNotFound();
    return upload;
  },

  /** Lists the uploads of a bucket newest first, and one more than `limit` when more follow. */
  async list(
    tenant: string,
    bucketId: string,
    { status, prefix = '' }: UploadFilter,
    window: Window,
  ): Promise<UploadRow[]> {
    return await sql<UploadRow[]>`
      select ${columns(sql)} from storage.uploads
      where tenant_id = ${tenant} and bucket_id = ${bucketId} and ${isKept(sql)}
        ${status === undefined ? sql`` : sql`and ${statusOf(sql)} = ${status}`}
        ${prefix === '' ? sql`` : sql`and starts_with(key, ${prefix})`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Makes the parts of a locked upload its object, but for those with the dropped numbers; returns when it was stored. */
  async complete(
    { author, bucketId, id, quota }: UploadChange,
    dropped: readonly number[],
    object: Assembly,
    { condition, completion }: { readonly condition: object | undefined; readonly completion: Buffer },
  ): Promise<string> {
    const [{ stored }] = await constrained(
      constraints,
      sql<[{ stored: string }]>`
        select storage.complete_upload(
          ${author.tenant}, ${bucketId}, ${id}, ${[...dropped]}::integer[], ${object}::jsonb, ${condition ?? null}::jsonb,
          ${completion}, ${quota}::jsonb, ${writer(author)}::jsonb, ${[newId('evt'), newId('evt')]}::text[]
        ) as stored`,
    );
    return stored;
  },

  async abort({ author, bucketId, id, quota }: UploadChange): Promise<void> {
    await constrained(
      constraints,
      sql`
        select storage.abort_upload(
          ${author.tenant}, ${bucketId}, ${id}, ${quota}::jsonb, ${writer(author)}::jsonb, ${newId('evt')}
        )`,
    );
  },

  /** Ends uploads that have expired, at most `limit` and with about `parts` parts; returns how many. */
  async expire(limit: number, parts: number, quota: DefaultQuota): Promise<number> {
    const events = Array.from({ length: limit }, () => newId('evt'));
    const [{ count }] = await sql<[{ count: number }]>`
      select storage.expire_uploads(${parts}, ${quota}::jsonb, ${events}::text[]) as count`;
    return count;
  },

  /** Deletes the records of uploads that nobody sees any more. */
  async deleteEnded(limit: number): Promise<number> {
    const { count } = await sql`
      delete from storage.uploads using (
        select tenant_id, id from storage.uploads
        where ended_at < now() - ${keptFor(sql)}
        order by ended_at limit ${limit} for update skip locked
      ) as old
      where uploads.tenant_id = old.tenant_id and uploads.id = old.id`;
    return count;
  },
});

const keptFor = (sql: Sql): Fragment => sql`interval '24 hours'`;

/** The record of an upload vanishes a day after its end. */
const isKept = (sql: Sql): Fragment => sql`coalesce(ended_at, expires_at) > now() - ${keptFor(sql)}`;

const statusOf = (sql: Sql): Fragment => sql`
  case
    when state <> 'open' then state
    when expires_at <= now() then 'expired'
    when parts = 0 then 'pending'
    else 'active'
  end`;

/** The columns of an upload by their names in the row. */
const columns = (sql: Sql, prefix = ''): Fragment =>
  names
    .map((name) => sql`${derived[name]?.(sql) ?? sql(name)} as ${sql(prefix + name)}`)
    .reduce((before, next) => sql`${before}, ${next}`);

const names = [
  ...['id', 'bucket_id', 'key', 'content_type', 'cache_control', 'content_disposition', 'content_encoding'],
  ...['content_language', 'metadata', 'status', 'uploaded_parts', 'uploaded_bytes', 'completion', 'result'],
  ...['expires_at', 'created_at', 'updated_at', 'completed_at'],
];

const derived: Readonly<Record<string, (sql: Sql) => Fragment>> = {
  status: statusOf,
  uploaded_parts: (sql) => sql`parts`,
  uploaded_bytes: (sql) => sql`bytes`,
};

/** The upload in a row that also has the columns of its bucket. */
const uploadIn = (row: object): UploadRow =>
  Object.fromEntries(
    names.map((name) => [name, row[`u_${name}` as keyof typeof row]]),
  ) as unknown as UploadRow;
