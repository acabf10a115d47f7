import type { BucketCreate } from '../../../../generated/storage/types.ts';
import type { Author } from '../../../db/write.ts';
import type { Deps } from '../deps.ts';
import { BucketNotEmpty } from '../errors.ts';
import { newSettings } from './bucket-settings.ts';
import { type BucketRow, bucketStore } from './buckets.store.ts';

/** What happens to buckets, independent of the protocol that asks for it. */
export const bucketChanges = ({ write }: Pick<Deps, 'write'>) => ({
  create: (author: Author, { name, ...body }: Partial<BucketCreate> & { name: string }): Promise<BucketRow> =>
    write(author, async ({ sql, emit }) => {
      const settings = { ...newSettings(body), name };
      const bucket = await bucketStore(sql).create(author.tenant, author.app, settings);
      emit('storage.bucket.created', bucket.id, bucket);
      return bucket;
    }),

  /** Deletes a bucket, which must be empty unless it is deleted by force. */
  delete: (author: Author, ref: string, force = false): Promise<void> =>
    write(author, async ({ sql, emit }) => {
      const store = bucketStore(sql);
      const { id, name } = await store.lock(author.tenant, ref);
      if (!force && (await store.isUsed(author.tenant, id))) throw BucketNotEmpty();
      await store.hide(author.tenant, id);
      emit('storage.bucket.deleted', id, { id, name, forced: force });
    }),
});
