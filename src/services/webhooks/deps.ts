import type { Logger } from 'pino';
import type { Database } from '../../db/index.ts';
import type { Sealing } from './sealing.ts';
import type { Settings } from './settings.ts';
import type { Writer } from './writes.ts';

/** What the parts of the service need. */
export interface Deps {
  readonly db: Database;
  readonly write: Writer;
  readonly sealing: Sealing;
  readonly settings: Settings;
  readonly log: Logger;
  /** Whether endpoints may be in private networks and may use plain `http`. */
  readonly allowPrivateTargets: boolean;
  readonly dispatcher: Hinted;
}

/** Whoever sends deliveries and wants to know at once that there are new ones. */
export interface Hinted {
  /** Says, after the commit, which endpoints have deliveries that are due. */
  hint(endpointIds: readonly string[]): void;
}
