import type { Changes } from '../../db/changes.ts';
import type { Database } from '../../db/index.ts';
import type { Log } from '../../db/log.ts';
import type { Outbound } from '../../lib/outbound.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { SettingsOf } from '../../lib/settings.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { Deliveries } from './deliveries.ts';
import type { Directory } from './directory.ts';
import type { CheckForm } from './forms.ts';
import type { KnownUsers } from './known-users.ts';
import type { Messages } from './messages.ts';
import type { OAuthClients } from './oauth-clients.ts';
import type { Passwords } from './passwords.ts';
import type { Principals } from './principals.ts';
import type { RateLimits } from './rate-limits.ts';
import type { settings } from './settings.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { Writer } from './writes.ts';

/** What the handlers of the service work with. */
export interface Deps {
  readonly db: Database;
  readonly write: Writer;
  readonly changes: Changes;
  readonly directory: Directory;
  readonly principals: Principals;
  readonly accessTokens: AccessTokens;
  readonly knownUsers: KnownUsers;
  readonly signingKeys: SigningKeys;
  readonly oauthClients: OAuthClients;
  readonly passwords: Passwords;
  readonly messages: Messages;
  readonly deliveries: Deliveries;
  readonly outbound: Outbound;
  readonly checkForm: CheckForm;
  readonly limits: RateLimits;
  /** The public address of the service, without a slash at its end. */
  readonly issuer: string;
  readonly sealer: Sealer;
  readonly settings: SettingsOf<typeof settings>;
  readonly production: boolean;
  readonly log: Log;
}
