import type { Database } from '../../db/index.ts';
import type { Models } from './models.ts';
import type { Settings } from './settings.ts';
import type { Performer, Writer } from './writes.ts';

/** The dependencies of the service's handlers. */
export interface Deps {
  readonly db: Database;
  /** Used for decisions. */
  readonly models: Models;
  /** Used for every change. */
  readonly write: Writer;
  readonly perform: Performer;
  readonly settings: Settings;
}
