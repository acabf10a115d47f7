/** A bucket with very many objects. */
import type { Database } from '../../src/db/index.ts';
import { bucket } from './service.ts';

export const folders = 1_000;

export const folderName = (nth: number) => `folder-${String(nth).padStart(4, '0')}/`;

/** Objects without bytes; as rows, because a million requests would take an hour. */
export async function fill(db: Database, keys: number): Promise<void> {
  await db.maintenance(
    (sql) => sql`
      insert into storage.objects (tenant_id, bucket_id, key, size, etag, checksum, content_type)
      select 'default', buckets.id,
        'folder-' || lpad((n % ${folders}::integer)::text, 4, '0') || '/picture-' || lpad(n::text, 7, '0') || '.jpg', 0,
        '"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"',
        'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'image/jpeg'
      from storage.buckets, generate_series(1, ${keys}::integer) as n
      where name = ${bucket}
      order by n % ${folders}::integer, n`,
  );
}
