import type { Logger } from 'pino';
import type { Database } from '../../db/index.ts';
import type { Dataset } from './dataset.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { Resyncs } from './resyncs.ts';
import type { Settings } from './settings.ts';
import type { Writer } from './writes.ts';

/** What the parts of the service need. */
export interface Deps {
  readonly db: Database;
  readonly write: Writer;
  readonly settings: Settings;
  readonly log: Logger;
  readonly hooks: Hooks;
  readonly resyncs: Resyncs;
  /** Tells the streams of a data set, in all processes, that something arrived. Call it after the commit. */
  readonly wake: (dataset: Dataset) => void;
}
