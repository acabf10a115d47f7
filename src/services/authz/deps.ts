import type { Database } from '../../db/index.ts';
import type { Models } from './models.ts';
import type { Settings } from './settings.ts';
import type { Performer, Writer } from './writes.ts';

/** What the handlers of the service are made from. */
export interface Deps {
  readonly db: Database;
  /** For decisions. */
  readonly models: Models;
  /** For everything that changes something. */
  readonly write: Writer;
  readonly perform: Performer;
  readonly settings: Settings;
}
