import type { Logger } from 'pino';
import type { Database } from '../../db/index.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { Intake } from './append/intake.ts';
import type { Settings } from './settings.ts';
import type { KnownStreams } from './streams/known-streams.ts';
import type { Writer } from './writes.ts';

/** What the parts of the service need. */
export interface Deps {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly settings: Settings;
  readonly log: Logger;
  readonly known: KnownStreams;
  readonly intake: Intake;
  readonly write: Writer;
}
