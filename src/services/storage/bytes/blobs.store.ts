import { given } from '../../../db/given.ts';
import type { Fragment, Sql } from '../../../db/index.ts';

/** Bytes that are stored for the first time. */
export interface NewBlob {
  readonly id: string;
  readonly size: number;
  readonly sha256: Buffer;
  readonly crc32c: number;
  /** In hexadecimal digits; null when nobody asked for it. */
  readonly md5: string | null;
  /** The checksums of the blocks of a file; empty when `content` has the bytes. */
  readonly blocks: Buffer;
  readonly content: Buffer | null;
}

/** A blob, or none, among the members of JSON that the commit functions take. */
export const blobMembers = (blob: NewBlob | null) => ({
  blob: blob && { id: blob.id, size: blob.size, crc32c: blob.crc32c, md5: blob.md5 },
  blocks: blob?.blocks.toString('base64'),
  content: blob?.content?.toString('base64'),
});

/** What it takes to read a blob. */
export interface ReadableBlob {
  readonly id: string;
  readonly size: number;
  readonly content: Uint8Array | null;
  /** The checksums of its blocks, from block `first_block` on. */
  readonly blocks: Uint8Array;
  readonly first_block: number;
  readonly is_damaged: boolean;
}

/** A blob that is to be read, from a block up to but not including another one. */
export interface AskedBlob {
  readonly id: string;
  readonly firstBlock: number;
  readonly endBlock: number;
}

/** Every statement about blobs. */
export const blobStore = (sql: Sql) => ({
  /** Blobs with the checksums of their blocks that are asked for; undefined in the place of one that is gone. */
  async findAll(tenant: string, asked: readonly AskedBlob[]): Promise<(ReadableBlob | undefined)[]> {
    const each = (of: (one: AskedBlob) => number) => sql`${asked.map(of)}::integer[]`;
    const ids = sql`${asked.map(({ id }) => id)}::text[]`;
    const blobs = given(
      sql,
      ids,
      each(({ firstBlock }) => firstBlock),
      each(({ endBlock }) => endBlock),
    );
    const rows = await sql<(ReadableBlob & { readonly place: number })[]>`
      select place, found.*
      from ${blobs} with ordinality as asked(blob, first_block, end_block, place)
      cross join lateral (
        select id, size, content, substring(blocks from first_block * 4 + 1 for (end_block - first_block) * 4) as blocks,
          first_block, state = 'damaged' as is_damaged
        from storage.blobs
        where tenant_id = ${tenant} and id = asked.blob collate "C" and state <> 'deleting' limit 1
      ) as found`;
    const found = new Map(rows.map(({ place, ...blob }) => [place, blob]));
    return asked.map((_, index) => found.get(index + 1));
  },

  /** Marks a blob whose bytes are not what they were. Returns whether it was not known to be damaged. */
  async damage(tenant: string, id: string): Promise<boolean> {
    const { count } = await sql`
      update storage.blobs set state = 'damaged' where tenant_id = ${tenant} and id = ${id} and state = 'live'`;
    return count > 0;
  },

  /** The objects that have the blob, some of them if there are very many. */
  async places(tenant: string, id: string): Promise<{ bucket: string | null; key: string }[]> {
    return await sql<{ bucket: string | null; key: string }[]>`
      select name as bucket, key
      from (
        select bucket_id, key from storage.objects where tenant_id = ${tenant} and blob_id = ${id}
        union select bucket_id, key from storage.segments where tenant_id = ${tenant} and blob_id = ${id}
        limit 100
      ) as places
      join storage.buckets on buckets.tenant_id = ${tenant} and buckets.id = places.bucket_id`;
  },

  /** Which of these ids no blob has. */
  async unknown(ids: readonly string[]): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select asked.id from unnest(${[...ids]}::text[]) as asked(id)
      where not exists (select from storage.blobs where blobs.id = asked.id collate "C")`;
    return rows.map(({ id }) => id);
  },

  /**
   * Locks blobs that have lost a pointer before the given grace, and with them what might point to them meanwhile. Those in use, or
   * about to be, are skipped.
   */
  async lockGarbage(graceMs: number, limit: number): Promise<Garbage[]> {
    return await sql<Garbage[]>`
      select blobs.tenant_id, blobs.id
      from storage.garbage join storage.blobs on blobs.tenant_id = garbage.tenant_id and blobs.id = garbage.blob_id
      where garbage.since < now() - ${graceMs} * interval '1 millisecond' and blobs.state <> 'deleting'
      order by garbage.since
      limit ${limit}
      for update of blobs skip locked`;
  },

  /**
   * Marks those of the locked blobs to which nothing points, and forgets that the others were garbage: but for those that lose a pointer
   * at this moment, of which this transaction may not see yet that it was the last one.
   */
  async condemn(locked: readonly Garbage[], graceMs: number): Promise<void> {
    const theirs = sql`unnest(${locked.map(({ tenant_id }) => tenant_id)}::text[], ${locked.map(({ id }) => id)}::text[])`;
    await sql`
      update storage.blobs set state = 'deleting'
      from ${theirs} as given(tenant_id, id)
      where blobs.tenant_id = given.tenant_id and blobs.id = given.id
        and not ${isUsed(sql, sql`blobs.tenant_id`, sql`blobs.id`)}`;
    await sql`
      delete from storage.garbage where (tenant_id, blob_id) in (
        select garbage.tenant_id, garbage.blob_id from ${theirs} as given(tenant_id, id)
        join storage.garbage on garbage.tenant_id = given.tenant_id and garbage.blob_id = given.id
        where garbage.since < now() - ${graceMs} * interval '1 millisecond'
          and ${isUsed(sql, sql`garbage.tenant_id`, sql`garbage.blob_id`)}
        for update of garbage skip locked
      )`;
  },

  /** Blobs whose bytes are to be deleted, in a fixed order. */
  async condemned(limit: number): Promise<Condemned[]> {
    return await sql<Condemned[]>`
      select tenant_id, id, size, content is null as is_file from storage.blobs where state = 'deleting'
      order by tenant_id, id limit ${limit}`;
  },

  /** Forgets blobs whose bytes are gone, and gives their room back. */
  async forget(condemned: readonly Garbage[]): Promise<void> {
    await sql`
      with gone as (
        delete from storage.blobs
        using unnest(${condemned.map(({ tenant_id }) => tenant_id)}::text[], ${condemned.map(({ id }) => id)}::text[])
          as given(tenant_id, id)
        where blobs.tenant_id = given.tenant_id and blobs.id = given.id and blobs.state = 'deleting'
        returning blobs.tenant_id, blobs.size
      ), sums as (
        select tenant_id, sum(size) as size from gone group by tenant_id
      ), locked as (
        select usage.tenant_id from storage.usage join sums using (tenant_id) where bucket_id = ''
        order by tenant_id for update of usage
      )
      update storage.usage set stored_bytes = stored_bytes - sums.size
      from sums join locked using (tenant_id)
      where usage.tenant_id = sums.tenant_id and bucket_id = ''`;
  },
});

export interface Garbage {
  readonly tenant_id: string;
  readonly id: string;
}

export interface Condemned extends Garbage {
  readonly size: number;
  readonly is_file: boolean;
}

/** Whether anything points to a blob. */
export const isUsed = (sql: Sql, tenant: Fragment, id: Fragment) => sql`(
  exists (select from storage.objects where objects.tenant_id = ${tenant} and objects.blob_id = ${id})
  or exists (select from storage.segments where segments.tenant_id = ${tenant} and segments.blob_id = ${id})
  or exists (select from storage.parts where parts.tenant_id = ${tenant} and parts.blob_id = ${id})
  or exists (select from storage.cas where cas.tenant_id = ${tenant} and cas.blob_id = ${id})
)`;
