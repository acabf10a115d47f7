import type { Logger } from 'pino';
import type { Clock } from '../../db/clock.ts';
import type { Database } from '../../db/index.ts';
import type { ChargeLimitsOf } from './money/charge-limits.ts';
import type { Revisions } from './plans/revisions.ts';
import type { Settings } from './settings.ts';
import type { Writer } from './writes.ts';

/** What the parts of the service need. */
export interface Deps {
  readonly db: Database;
  readonly write: Writer;
  readonly settings: Settings;
  readonly log: Logger;
  /** The time by which everything is decided. It goes into statements, which never ask the database for theirs. */
  readonly clock: Clock;
  readonly revisions: Revisions;
  /** Which amounts can be charged at once: those of the provider. */
  readonly chargeLimits: ChargeLimitsOf;
}
