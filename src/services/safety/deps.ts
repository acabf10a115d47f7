import type { Changes } from '../../db/changes.ts';
import type { Database } from '../../db/index.ts';
import type { Settings } from './settings.ts';
import type { Writer } from './writes.ts';

/** What the parts of the service need. */
export interface Deps {
  readonly db: Database;
  readonly changes: Changes;
  readonly settings: Settings;
  readonly write: Writer;
}
