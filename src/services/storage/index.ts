/**
 * Storage: keeps content of any kind, as objects under keys in buckets and as content-addressed entries. Metadata is in the database,
 * bytes are behind a driver.
 *
 * Terminology:
 * - Bucket: a named container of a tenant. Object: content and its metadata under a key in a bucket.
 * - Blob: an immutable run of stored bytes. Objects, parts and content-addressed entries point to blobs and may share them.
 * - Upload: an object that arrives in parts. Segment: the place of a blob in an object of several parts.
 * - Garbage: blobs that lost a pointer. The collector deletes those that have none. Orphan: a file that belongs to no blob.
 * - Damaged: what is said of a blob whose bytes do not have their checksum any more.
 */
import { join } from 'node:path';
import type { Service, ServiceModule } from '../../http/service.ts';
import { admin } from './admin/admin.ts';
import { bucketChanges } from './buckets/bucket-changes.ts';
import { buckets } from './buckets/buckets.ts';
import { emptying } from './buckets/emptying.ts';
import { createBlobReader } from './bytes/blob-reader.ts';
import { collector, orphanSweep } from './bytes/collector.ts';
import { damageReport } from './damage.ts';
import { fsDriver } from './bytes/fs-driver.ts';
import { createIntake } from './bytes/intake.ts';
import { openStore } from './bytes/store-identity.ts';
import { createTransfers } from './bytes/transfers.ts';
import { cas } from './cas/cas.ts';
import { s3Credentials } from './credentials/credentials.ts';
import type { Deps } from './deps.ts';
import { encodeError } from './errors.ts';
import { linkCallers } from './links/link-callers.ts';
import { linkKeysOf } from './links/link-keys.ts';
import { asks, subjectJudge } from './links/link-subjects.ts';
import { objects } from './objects/objects.ts';
import { createShelf } from './objects/shelf.ts';
import { allowsPreflight } from './preflights.ts';
import { createQuotas } from './quotas.ts';
import { s3Facade } from './s3/facade.ts';
import { sealSweeps } from './seals.ts';
import { type Settings, settings } from './settings.ts';
import { createMultipart } from './uploads/multipart.ts';
import { uploadSweep } from './uploads/sweeps.ts';
import { uploads } from './uploads/uploads.ts';
import { createWriter } from './writes.ts';

const documented = '/store/v1';

export const storage: ServiceModule<typeof settings, typeof asks> = {
  name: 'storage',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  asks,
  basePath: ({ basePath }) => ({ documented, served: basePath }),
  async create({ db, settings, sealer, dataDir, publicUrl, log, ports }): Promise<Service> {
    const dir = settings.dir || join(dataDir, 'storage');
    const { linkSecret } = await openStore({ sql: db.sql, sealer, dir });
    if (settings.fsync === 'off') log.warn('PLINTH_STORAGE_FSYNC is off: acknowledged content may be lost');
    const driver = fsDriver({ dir, fsync: settings.fsync === 'on' });
    const transfers = createTransfers(settings.maxTransfers);
    const intake = createIntake({ driver, transfers, inlineMax: settings.inlineMax });
    const write = createWriter({ db });
    const onDamage = damageReport({ db, log });
    const readBlob = createBlobReader({ driver, verifies: settings.verifyReads === 'on', onDamage });
    const quotas = createQuotas({ db, write, settings });
    const shelf = createShelf({ db, settings, intake, transfers, readBlob, quotas });
    const multipart = createMultipart({ db, settings, intake, quotas, shelf });
    const linkKeys = linkKeysOf(settings, linkSecret);
    const baseUrl = (settings.publicUrl || publicUrl) + settings.basePath;
    const given = { db, write, settings, sealer, log, driver, transfers };
    const deps: Deps = { ...given, intake, readBlob, quotas, shelf, multipart, linkKeys, baseUrl };
    return {
      handlers: {
        Admin: admin(deps),
        Buckets: buckets(deps),
        Cas: cas(deps),
        Objects: objects(deps),
        S3Credentials: s3Credentials(deps),
        Uploads: uploads(deps),
      },
      encodeError,
      raw: [s3Facade({ ...deps, buckets: bucketChanges(deps) }, settings.s3Port)],
      outbox: {},
      sweeps: [collector(deps), orphanSweep(deps), emptying(deps), uploadSweep(deps), ...sealSweeps(deps)],
      identify: linkCallers({ ...deps, mayStill: subjectJudge(ports) }),
      allowsOrigin: allowsPreflight(settings.basePath),
      limits: limitsOf(settings),
    };
  },
};

/** The limits of content, which the settings may make stricter than the contract. */
function limitsOf({ maxObjectBytes, idleTimeoutMs }: Settings): NonNullable<Service['limits']> {
  const silence = idleTimeoutMs / 1000;
  const receiving = { bodyBytes: maxObjectBytes, silence };
  return {
    ...{ Objects_put: receiving, Uploads_uploadPart: receiving, Cas_put: receiving },
    ...{ Objects_get: { silence }, Cas_get: { silence } },
  };
}
