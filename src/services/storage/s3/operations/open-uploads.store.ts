import type { Sql } from '../../../../db/index.ts';

export interface OpenUpload {
  readonly key: string;
  readonly id: string;
  readonly created_at: string;
}

/** Open uploads in the order of S3: by key, those of one key by their ids. */
export const openUploadStore = (sql: Sql) => ({
  /**
   * The uploads after a key, or with an id after that upload of the key; one more than `limit` when more follow.
   */
  async list(
    tenant: string,
    bucketId: string,
    { prefix, key, id, limit }: { prefix: string; key: string; id: string; limit: number },
  ): Promise<OpenUpload[]> {
    const place = id === '' ? sql`key > ${key}` : sql`(key, id) > (${key}, ${id})`;
    return await sql<OpenUpload[]>`
      select key, id, created_at from storage.uploads
      where tenant_id = ${tenant} and bucket_id = ${bucketId} and state = 'open' and expires_at > now()
        and key >= ${prefix} and key < ${`${prefix}\u{10ffff}`} and ${place}
      order by key, id limit ${limit + 1}`;
  },
});
