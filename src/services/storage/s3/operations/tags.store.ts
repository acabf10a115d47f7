import type { Sql } from '../../../../db/index.ts';
import type { Tagged } from '../protocol/tags.ts';

/** The tag of a part, its number, and when it arrived. */
export interface TaggedPart extends Tagged {
  readonly part_number: number;
  readonly uploaded_at: string;
}

/** Every statement about the entity tags that clients of S3 expect. */
export const tagStore = (sql: Sql) => ({
  /** The tag of an object in parts, if it was uploaded through the façade and is still the same. */
  async find(tenant: string, bucketId: string, key: string, etag: string): Promise<string | null> {
    const [row] = await sql<{ tag: string }[]>`
      select tag from storage.s3_tags
      where tenant_id = ${tenant} and bucket_id = ${bucketId} and key = ${key} and etag = ${etag}`;
    return row?.tag ?? null;
  },

  /** Keeps the tag of an object in parts for as long as the object exists. */
  async keep(tenant: string, bucketId: string, key: string, etag: string, tag: string): Promise<void> {
    await sql`
      insert into storage.s3_tags (tenant_id, bucket_id, key, etag, tag)
      select tenant_id, bucket_id, key, etag, ${tag} from storage.objects
      where tenant_id = ${tenant} and bucket_id = ${bucketId} and key = ${key} and etag = ${etag}
      for key share
      on conflict on constraint s3_tags_pkey do update set etag = excluded.etag, tag = excluded.tag`;
  },

  /** What is known about the tags of the objects under these keys. */
  async list(
    tenant: string,
    bucketId: string,
    keys: readonly string[],
  ): Promise<(Tagged & { readonly key: string })[]> {
    return await sql<(Tagged & { readonly key: string })[]>`
      select objects.key, objects.etag, objects.size, encode(blobs.md5, 'hex') as md5, s3_tags.tag
      from unnest(${[...keys]}::text[]) as asked(key)
      cross join lateral (
        select * from storage.objects
        where tenant_id = ${tenant} and bucket_id = ${bucketId} and key = asked.key collate "C" limit 1
      ) as objects
      left join storage.blobs on blobs.tenant_id = objects.tenant_id and blobs.id = objects.blob_id
      left join storage.s3_tags on s3_tags.tenant_id = objects.tenant_id and s3_tags.bucket_id = objects.bucket_id
        and s3_tags.key = objects.key and s3_tags.etag = objects.etag`;
  },

  /** The parts of an upload after a number. */
  async parts(tenant: string, uploadId: string, after: number, limit: number): Promise<TaggedPart[]> {
    return await sql<TaggedPart[]>`
      select part_number, '"' || encode(parts.sha256, 'hex') || '"' as etag, parts.size, encode(md5, 'hex') as md5,
        null::text as tag, uploaded_at
      from storage.parts left join storage.blobs on blobs.tenant_id = parts.tenant_id and blobs.id = parts.blob_id
      where parts.tenant_id = ${tenant} and upload_id = ${uploadId} and part_number > ${after}
      order by part_number limit ${limit}`;
  },
});
