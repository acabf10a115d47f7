import type { Quota, Stats } from '../../../generated/storage/types.ts';
import type { Sql } from '../../db/index.ts';
import { isUsed } from './bytes/blobs.store.ts';
import type { DefaultQuota } from './usage.ts';

/** What statistics count in the database. */
export type Counted = Omit<Stats, 'driver' | 'active_transfers'>;

/** What somebody wants to store, perhaps in the place of an object. */
interface Room {
  readonly tenant: string;
  readonly bucketId: string;
  readonly bytes: number;
  readonly key: string | undefined;
}

/** Every statement about how much is stored. */
export const usageStore = (sql: Sql) => ({
  /** Which quota has no room for so many bytes; undefined when there is room. An object under the key makes room for them. */
  async full(
    { tenant, bucketId, bytes, key }: Room,
    quota: DefaultQuota,
  ): Promise<'bucket' | 'tenant' | undefined> {
    const [row] = await sql<{ scope: 'bucket' | 'tenant' }[]>`
      select case when usage.bucket_id = '' then 'tenant' else 'bucket' end as scope
      from storage.usage
      left join storage.buckets on buckets.tenant_id = ${tenant} and buckets.id = usage.bucket_id
      left join storage.quotas on quotas.tenant_id = ${tenant} and usage.bucket_id = ''
      cross join lateral (
        select case when usage.bucket_id = '' then coalesce(quotas.quota_bytes, ${quota.quota_bytes}) else buckets.quota_bytes end
          as most
      ) as allowed
      cross join lateral (
        select ${bytes}::bigint - coalesce(sum(size), 0) as more from storage.objects
        where tenant_id = ${tenant} and bucket_id = ${bucketId} and key = ${key ?? null}
      ) as given
      where usage.tenant_id = ${tenant} and usage.bucket_id in ('', ${bucketId})
        and most > 0 and more > 0 and object_bytes + upload_bytes + cas_bytes + more > most
      order by usage.bucket_id desc
      limit 1`;
    return row?.scope;
  },

  /** Returns whether no refusal was noted within the last minute. */
  async noteRefusal(tenant: string, bucketId: string): Promise<boolean> {
    const { count } = await sql`
      update storage.usage set refused_at = now()
      where tenant_id = ${tenant} and bucket_id = ${bucketId}
        and (refused_at is null or refused_at < now() - interval '1 minute')`;
    return count > 0;
  },

  async quota(tenant: string, { quota_bytes, quota_objects }: DefaultQuota): Promise<Quota> {
    const [quota] = await sql<[Quota]>`
      select ${tenant} as tenant_id, coalesce(quotas.quota_bytes, ${quota_bytes}) as quota_bytes,
        coalesce(quotas.quota_objects, ${quota_objects}) as quota_objects,
        coalesce(object_bytes + upload_bytes + cas_bytes, 0) as used_bytes, coalesce(objects, 0) as used_objects
      from (select) as always
      left join storage.quotas on quotas.tenant_id = ${tenant}
      left join storage.usage on usage.tenant_id = ${tenant} and bucket_id = ''`;
    return quota;
  },

  async setQuota(tenant: string, { quota_bytes, quota_objects }: DefaultQuota): Promise<void> {
    await sql`
      insert into storage.quotas (tenant_id, quota_bytes, quota_objects) values (${tenant}, ${quota_bytes}, ${quota_objects})
      on conflict on constraint quotas_pkey do update
      set quota_bytes = excluded.quota_bytes, quota_objects = excluded.quota_objects`;
  },

  /** What is stored in a tenant, or with undefined in all of them. Only garbage is counted, all else has counters. */
  async stats(tenant: string | undefined): Promise<Counted> {
    const [counted] = await sql<[Counted]>`
      with counters as (
        select coalesce(sum(buckets), 0)::bigint as buckets, coalesce(sum(objects), 0)::bigint as objects,
          coalesce(sum(object_bytes), 0)::bigint as logical_bytes, coalesce(sum(stored_bytes), 0)::bigint as stored_bytes,
          coalesce(sum(cas_entries), 0)::bigint as cas_entries, coalesce(sum(cas_bytes), 0)::bigint as cas_bytes,
          coalesce(sum(uploads), 0)::bigint as open_uploads, coalesce(sum(upload_bytes), 0)::bigint as upload_bytes
        from storage.usage where bucket_id = '' ${ofTenant(sql, tenant)}
      ), garbage as (
        select count(*) as garbage_blobs, coalesce(sum(size), 0)::bigint as garbage_bytes
        from storage.garbage join storage.blobs on blobs.tenant_id = garbage.tenant_id and blobs.id = garbage.blob_id
        where not ${isUsed(sql, sql`blobs.tenant_id`, sql`blobs.id`)} ${ofTenant(sql, tenant, 'garbage')}
      ), damaged as (
        select count(*) as damaged_blobs from storage.blobs where state = 'damaged' ${ofTenant(sql, tenant)}
      )
      select counters.*, garbage.*, damaged.*,
        greatest(0, logical_bytes + cas_bytes + upload_bytes - (stored_bytes - garbage_bytes)) as dedup_saved_bytes
      from counters, garbage, damaged`;
    return counted;
  },
});

const ofTenant = (sql: Sql, tenant: string | undefined, table?: string) =>
  tenant === undefined
    ? sql``
    : sql`and ${sql(table === undefined ? 'tenant_id' : `${table}.tenant_id`)} = ${tenant}`;
