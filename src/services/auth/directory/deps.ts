import type { Directory } from './directory.ts';
import type { KnownUsers } from './known-users.ts';
import type { UsedOnce } from './used-once.ts';
import type { Writer } from './writes.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { settings } from '../settings.ts';
import type { Changes } from '../../../db/changes.ts';
import type { Database } from '../../../db/index.ts';
import type { Log } from '../../../db/log.ts';
import type { Outbound } from '../../../lib/outbound.ts';
import type { Sealer } from '../../../lib/seal.ts';
import type { SettingsOf } from '../../../lib/settings.ts';

/** Dependencies of every handler of the service. */
export interface Deps {
  readonly db: Database;
  readonly write: Writer;
  readonly changes: Changes;
  readonly directory: Directory;
  readonly usedOnce: UsedOnce;
  readonly knownUsers: KnownUsers;
  readonly limits: RateLimits;
  readonly outbound: Outbound;
  /** The public address of the service, without a trailing slash. */
  readonly issuer: string;
  readonly sealer: Sealer;
  readonly settings: SettingsOf<typeof settings>;
  readonly production: boolean;
  readonly log: Log;
}
