import type { Database } from '../../db/index.ts';
import type { Author } from '../../db/write.ts';
import { DomainError } from '../../lib/errors.ts';
import type { BucketRow, FoundBucket } from './buckets/buckets.store.ts';
import { BucketQuotaExceeded, TenantQuotaExceeded } from './errors.ts';
import { defaultQuota } from './usage.ts';
import type { Settings } from './settings.ts';
import { usageStore } from './usage.store.ts';
import type { Writer } from './writes.ts';

/** The quotas of buckets and tenants. The commit decides; what is here comes before and after it. */
export interface Quotas {
  /** Refuses content that would not fit now, before its bytes are received; with a key, in the place of the object that is there. */
  checkRoom(author: Author, bucket: FoundBucket, bytes: number, key?: string): Promise<void>;
  /** Emits an event when a commit is refused because of a quota, once a minute for each bucket and tenant. */
  noting<T>(author: Author, bucket: BucketRow | undefined, commit: Promise<T>): Promise<T>;
}

export interface QuotaDeps {
  readonly db: Database;
  readonly write: Writer;
  readonly settings: Settings;
}

export function createQuotas({ db, write, settings }: QuotaDeps): Quotas {
  return {
    async checkRoom(author, bucket, bytes, key) {
      const quota = defaultQuota(settings);
      if (bytes <= 0 || (bucket.has_quota === false && quota.quota_bytes === 0)) return;
      const room = { tenant: author.tenant, bucketId: bucket.id, bytes, key };
      const full = await usageStore(db.sql).full(room, quota);
      if (full === undefined) return;
      const refusal = full === 'bucket' ? BucketQuotaExceeded() : TenantQuotaExceeded();
      await this.noting(author, bucket, Promise.reject(refusal));
    },

    async noting(author, bucket, commit) {
      try {
        return await commit;
      } catch (error) {
        const scope = scopeOf(error);
        if (scope !== undefined) await note(author, scope, scope === 'bucket' ? bucket : undefined);
        throw error;
      }
    },
  };

  async function note(
    author: Author,
    scope: 'bucket' | 'tenant',
    bucket: BucketRow | undefined,
  ): Promise<void> {
    await write(author, async ({ sql, emit }) => {
      if (!(await usageStore(sql).noteRefusal(author.tenant, bucket?.id ?? ''))) return;
      emit('storage.quota.exceeded', bucket?.name ?? author.tenant, { scope, bucket: bucket?.name ?? null });
    });
  }
}

function scopeOf(error: unknown): 'bucket' | 'tenant' | undefined {
  if (!(error instanceof DomainError)) return undefined;
  if (error.message === BucketQuotaExceeded().message) return 'bucket';
  return error.message === TenantQuotaExceeded().message ? 'tenant' : undefined;
}
