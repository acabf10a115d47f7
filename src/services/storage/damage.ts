import type { Logger } from 'pino';
import type { Database } from '../../db/index.ts';
import { UnitOfWork } from '../../db/write.ts';
import { blobStore } from './bytes/blobs.store.ts';

/**
 * Marks a blob as damaged and says so, once. Its readers get an error from then on, and equal content is stored anew instead of being
 * pointed to it. The report does not hold up the request that found the damage.
 */
export const damageReport =
  ({ db, log }: { readonly db: Database; readonly log: Logger }) =>
  (tenant: string, blobId: string): void => {
    log.error({ tenant, blobId }, 'stored content is damaged');
    void report(db, tenant, blobId).catch((error: unknown) =>
      log.error({ err: error, tenant, blobId }, 'the damage could not be recorded'),
    );
  };

async function report(db: Database, tenant: string, blobId: string): Promise<void> {
  await db.transaction(async (sql) => {
    if (!(await blobStore(sql).damage(tenant, blobId))) return;
    const unit = new UnitOfWork(sql, { tenant, app: 'default', actor: 'storage' }, 'storage');
    const places = await blobStore(sql).places(tenant, blobId);
    for (const { bucket, key } of places.length > 0 ? places : [{ bucket: null, key: null }])
      unit.emit('storage.blob.damaged', blobId, { blob_id: blobId, bucket, key });
    await unit.settle({});
  });
}
