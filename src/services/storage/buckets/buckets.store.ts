import type { Bucket, BucketUpdate } from '../../../../generated/storage/types.ts';
import { constrained } from '../../../db/constraints.ts';
import { givenTexts } from '../../../db/given.ts';
import type { Fragment, Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { BucketNotFound, constraints, TooManyBuckets } from '../errors.ts';

/** A bucket as it is stored: its usage is a row of its own. */
export type BucketRow = Required<Omit<Bucket, 'usage'>>;

/** A bucket to store something in. */
export interface FoundBucket extends BucketRow {
  /** Whether the bucket or the tenant has a quota of its own; undefined when nobody looked. */
  readonly has_quota?: boolean;
  /** Changes with the bucket; undefined when nobody looked. */
  readonly version?: string | undefined;
}

/** The most buckets of a tenant. */
export const mostBuckets = 1000;

/** Every statement about buckets. */
export const bucketStore = (sql: Sql) => ({
  /** Creates a bucket, in a place of the tenant's that it takes first. */
  async create(
    tenant: string,
    app: string,
    { name, ...settings }: BucketUpdate & { name: string },
  ): Promise<BucketRow> {
    await this.takePlace(tenant);
    const [bucket] = await constrained(
      constraints,
      sql<[BucketRow]>`
        insert into storage.buckets ${sql({ ...settings, tenant_id: tenant, app_id: app, id: newId('bkt'), name })}
        returning ${columns(sql)}`,
    );
    await sql`insert into storage.usage (tenant_id, bucket_id) values (${tenant}, ${bucket.id})`;
    return bucket;
  },

  async takePlace(tenant: string): Promise<void> {
    const { count } = await sql`
      insert into storage.usage as existing (tenant_id, buckets) values (${tenant}, 1)
      on conflict on constraint usage_pkey do update set buckets = existing.buckets + 1
      where existing.buckets < ${mostBuckets}`;
    if (count === 0) throw TooManyBuckets(mostBuckets);
  },

  /** @param ref the name or the id of the bucket */
  async find(tenant: string, ref: string): Promise<BucketRow | undefined> {
    const [bucket] = await sql<BucketRow[]>`
      select ${columns(sql)} from storage.buckets
      where tenant_id = ${tenant} and ${named(sql, ref)}`;
    return bucket;
  },

  /** Finds several buckets, by name or by id, and returns them under `nameOfRef`. */
  async findAll(asked: readonly BucketRef[]): Promise<Map<string, FoundBucket>> {
    const [tenants, refs] = [asked.map(({ tenant }) => tenant), asked.map(({ ref }) => ref)];
    const rows = await sql<(FoundBucket & { readonly ref: string })[]>`
      select ref, ${columns(sql, 'buckets')}, buckets.xmin::text as version,
        buckets.quota_bytes > 0 or exists (select from storage.quotas where quotas.tenant_id = buckets.tenant_id) as has_quota
      from ${givenTexts(sql, tenants, refs)} as asked(tenant, ref)
      cross join lateral ${referred(sql)} as buckets`;
    return new Map(rows.map(({ ref, ...bucket }) => [nameOfRef({ tenant: bucket.tenant_id, ref }), bucket]));
  },

  async get(tenant: string, ref: string): Promise<BucketRow> {
    const bucket = await this.find(tenant, ref);
    if (!bucket) throw BucketNotFound();
    return bucket;
  },

  async getWithUsage(tenant: string, ref: string): Promise<Bucket> {
    const [bucket] = await sql<Bucket[]>`
      select ${columns(sql, 'buckets')},
        jsonb_build_object('bytes', object_bytes, 'objects', objects, 'upload_bytes', upload_bytes) as usage
      from storage.buckets join storage.usage on usage.tenant_id = buckets.tenant_id and usage.bucket_id = buckets.id
      where buckets.tenant_id = ${tenant} and ${named(sql, ref)}`;
    if (!bucket) throw BucketNotFound();
    return bucket;
  },

  /** Lists buckets by name, one more than `limit` when more follow. */
  async list(
    tenant: string,
    { prefix = '', after, limit }: { prefix?: string | undefined; after: string | undefined; limit: number },
  ): Promise<BucketRow[]> {
    return await sql<BucketRow[]>`
      select ${columns(sql)} from storage.buckets
      where tenant_id = ${tenant} and name >= ${prefix} and name < ${`${prefix}\u{10ffff}`}
        ${after === undefined ? sql`` : sql`and name > ${after}`}
      order by name limit ${limit + 1}`;
  },

  /** Locks a bucket for the rest of the transaction: nothing is stored in it meanwhile. */
  async lock(tenant: string, ref: string): Promise<BucketRow> {
    const [bucket] = await sql<BucketRow[]>`
      select ${columns(sql)} from storage.buckets where tenant_id = ${tenant} and ${named(sql, ref)} for update`;
    if (!bucket) throw BucketNotFound();
    return bucket;
  },

  async update(tenant: string, ref: string, changes: BucketUpdate): Promise<BucketRow> {
    const found = sql`where tenant_id = ${tenant} and ${named(sql, ref)} returning ${columns(sql)}`;
    const [bucket] =
      Object.keys(changes).length === 0
        ? await sql<BucketRow[]>`update storage.buckets set updated_at = now() ${found}`
        : await sql<BucketRow[]>`update storage.buckets set ${sql(changes)}, updated_at = now() ${found}`;
    if (!bucket) throw BucketNotFound();
    return bucket;
  },

  /** Whether a locked bucket has an object or an open upload. */
  async isUsed(tenant: string, id: string): Promise<boolean> {
    const [{ is_used }] = await sql<[{ is_used: boolean }]>`
      select exists (select from storage.objects where tenant_id = ${tenant} and bucket_id = ${id})
        or exists (
          select from storage.uploads
          where tenant_id = ${tenant} and bucket_id = ${id} and state = 'open' and expires_at > now()
        ) as is_used`;
    return is_used;
  },

  /** Takes the name of a locked bucket, so that nobody finds it any more. Its place is free at once. */
  async hide(tenant: string, id: string): Promise<void> {
    await sql`update storage.buckets set name = null, updated_at = now() where tenant_id = ${tenant} and id = ${id}`;
    await sql`update storage.usage set buckets = buckets - 1 where tenant_id = ${tenant} and bucket_id = ''`;
  },
});

/** A bucket that somebody looks for, by its name or its id. */
export interface BucketRef {
  readonly tenant: string;
  readonly ref: string;
}

export const nameOfRef = ({ tenant, ref }: BucketRef): string => JSON.stringify([tenant, ref]);

/** The bucket to which a row `asked(tenant, ref)` refers, as `named` finds it. */
export const referred = (sql: Sql): Fragment => sql`(
  select xmin, * from storage.buckets where tenant_id = asked.tenant collate "C" and name = asked.ref collate "C"
  union all
  select xmin, * from storage.buckets
  where tenant_id = asked.tenant collate "C" and id = asked.ref collate "C" and name is not null
)`;

/** A bucket's id cannot be a name, so that a reference is never ambiguous. A bucket that is being emptied has no name and is not found. */
export const named = (sql: Sql, ref: string): Fragment =>
  /^bkt_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(ref)
    ? sql`buckets.id = ${ref} and buckets.name is not null`
    : sql`buckets.name = ${ref}`;

const names = [
  ...['id', 'name', 'tenant_id', 'app_id', 'quota_bytes', 'quota_objects', 'max_object_bytes'],
  ...['allowed_content_types', 'cors_origins', 'events', 'metadata', 'created_at', 'updated_at'],
];

export const columns = (sql: Sql, table?: string): Fragment =>
  sql`${sql(names.map((name) => (table === undefined ? name : `${table}.${name}`)))}`;
