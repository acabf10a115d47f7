import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import type { NewBlob } from '../bytes/blobs.store.ts';
import type { Received } from '../bytes/intake.ts';
import { constraints } from '../errors.ts';
import type { PartRow } from './completion.ts';
import type { UploadChange } from './uploads.store.ts';

/** A part with the time of its arrival. */
export interface DatedPart extends Omit<PartRow, 'crc32c'> {
  readonly uploaded_at: string;
}

/** Which part of an upload is stored. */
export interface PartPlace extends Omit<UploadChange, 'author'> {
  readonly tenant: string;
  readonly number: number;
}

/** Every statement about the parts of uploads. */
export const partStore = (sql: Sql) => ({
  /** Parts by number from the one after `after` on, one more than `limit` when more follow. */
  async list(tenant: string, upload: string, after: number, limit: number): Promise<DatedPart[]> {
    return await sql<DatedPart[]>`
      select part_number, size, encode(sha256, 'hex') as sha256, uploaded_at from storage.parts
      where tenant_id = ${tenant} and upload_id = ${upload} and part_number > ${after}
      order by part_number limit ${limit + 1}`;
  },

  /** All parts by number, at most 10,000. */
  async all(tenant: string, upload: string): Promise<PartRow[]> {
    return await sql<PartRow[]>`
      select part_number, size, encode(sha256, 'hex') as sha256, lpad(to_hex(crc32c), 8, '0') as crc32c from storage.parts
      where tenant_id = ${tenant} and upload_id = ${upload} order by part_number`;
  },

  /** Stores received bytes as a part. Returns which blob has them. */
  async put(
    { tenant, bucketId, id, number, quota }: PartPlace,
    { size, crc32c, sha256, blob }: Received,
  ): Promise<{ readonly blob_id: string | null; readonly uploaded_at: string }> {
    const [stored] = await constrained(
      constraints,
      sql<[{ blob_id: string | null; uploaded_at: string }]>`
        select blob_id, uploaded_at from storage.put_part(
          ${tenant}, ${bucketId}, ${id}, ${number}, ${size}, ${parseInt(crc32c, 16)}, ${identity(blob)}::jsonb,
          ${Buffer.from(sha256, 'hex')}, ${blob?.blocks ?? null}::bytea, ${blob?.content ?? null}::bytea, ${quota}::jsonb
        )`,
    );
    return stored;
  },

  /** Makes a blob that is stored already a part. */
  async point(
    { tenant, bucketId, id, number, quota }: PartPlace,
    blobId: string,
  ): Promise<Omit<DatedPart, 'part_number'>> {
    const [stored] = await constrained(
      constraints,
      sql<[Omit<DatedPart, 'part_number'>]>`
        select size, encode(sha256, 'hex') as sha256, uploaded_at
        from storage.point_part(${tenant}, ${bucketId}, ${id}, ${number}, ${blobId}, ${quota}::jsonb)`,
    );
    return stored;
  },
});

const identity = (blob: NewBlob | null) =>
  blob && { id: blob.id, size: blob.size, crc32c: blob.crc32c, md5: blob.md5 };
