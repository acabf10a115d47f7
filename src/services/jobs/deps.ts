import type { Database } from '../../db/index.ts';
import type { Engine } from '../../db/engine/index.ts';
import type { Settings } from './settings.ts';
import type { Writer } from './writes.ts';

/** What the handlers of the service need. */
export interface Deps {
  readonly db: Database;
  readonly engine: Engine;
  readonly settings: Pick<Settings, 'maxPayload' | 'maxLost'>;
  readonly write: Writer;
}
