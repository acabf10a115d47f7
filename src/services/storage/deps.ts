import type { Logger } from 'pino';
import type { Database } from '../../db/index.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { BlobReader } from './bytes/blob-reader.ts';
import type { BytesDriver } from './bytes/driver.ts';
import type { Intake } from './bytes/intake.ts';
import type { Transfers } from './bytes/transfers.ts';
import type { LinkKeys } from './links/link-keys.ts';
import type { Shelf } from './objects/shelf.ts';
import type { Quotas } from './quotas.ts';
import type { Settings } from './settings.ts';
import type { Multipart } from './uploads/multipart.ts';
import type { Writer } from './writes.ts';

/** What the parts of the service need. */
export interface Deps {
  readonly db: Database;
  readonly write: Writer;
  readonly settings: Settings;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly driver: BytesDriver;
  readonly transfers: Transfers;
  /** Receives content, for objects, parts and content-addressed entries. */
  readonly intake: Intake;
  /** Reads blobs, for those who read more than one object. */
  readonly readBlob: BlobReader;
  readonly quotas: Quotas;
  /** Everything that happens to objects, independent of the protocol that asks for it. */
  readonly shelf: Shelf;
  /** The same for uploads. */
  readonly multipart: Multipart;
  readonly linkKeys: LinkKeys;
  /** Where the paths of the service begin for clients. */
  readonly baseUrl: string;
}
