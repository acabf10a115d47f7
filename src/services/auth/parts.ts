import { createChanges } from '../../db/changes.ts';
import { createOutbound } from '../../lib/outbound.ts';
import { createAccountSecurity } from './sessions/account-security.ts';
import { createAccessTokens } from './oauth/access/access-tokens.ts';
import { createActivity } from './sessions/activity.ts';
import { createDeliveries } from './webhooks/deliveries.ts';
import { createDenylist, denialMs } from './oauth/access/denylist.ts';
import { denylistStore } from './oauth/access/denylist.store.ts';
import { createDirectory } from './directory/directory.ts';
import { basesOf, createProofs } from './oauth/access/dpop.ts';
import { formChecker } from './apps/forms.ts';
import { createHeldScopes } from './roles/held-scopes.ts';
import { issuerOf } from './directory/issuer.ts';
import { createSigningKeys } from './oauth/keys/key-set.ts';
import { createKnownUsers } from './directory/known-users.ts';
import { liveSessions } from './sessions/live-sessions.ts';
import { createUserMessages } from './messages/messages.ts';
import { createOAuthClients } from './apps/oauth-clients.ts';
import { createPasswords } from './factors/passwords.ts';
import { createPrincipals } from './sessions/principals.ts';
import { createRateLimits } from './limits/rate-limits.ts';
import { scopeStore } from './directory/scopes.store.ts';
import { settings as declared } from './settings.ts';
import { createUsedOnce } from './directory/used-once.ts';
import { createWriter } from './directory/writes.ts';
import type { ServiceDeps } from '../../http/service.ts';
import type { SettingsOf } from '../../lib/settings.ts';

export type Parts = ReturnType<typeof createParts>['parts'];

type Given = ServiceDeps<SettingsOf<typeof declared>>;

/** Creates what the handlers and the background work of the service share, in the order in which the parts need each other. */
export function createParts(given: Given) {
  const { db, engine, settings, sealer, production, publicUrl, serverUrl, log } = given;
  const size = settings.cache;
  const changes = createChanges({ db, schema: 'auth', detailed: true, retentionMs: denialMs, log });
  const directory = createDirectory({ db, changes });
  const activity = createActivity({ db, log });
  const read = (wanted: Parameters<typeof liveSessions>[1]) => liveSessions(db.sql, wanted);
  const principals = createPrincipals({ read, changes, directory, activity, size });
  const { allowPrivateTargets: allowPrivate } = given;
  const outbound = createOutbound({ allowPrivate, allowNetworks: settings.allowNetworks });
  const deliveries = createDeliveries({ db, engine, clock: changes.clock, outbound, log, sealer });
  const issuer = issuerOf(settings, publicUrl);
  const byNetwork = limitsByAddress(settings.rateLimit, production);
  const messages = createUserMessages({ ...given, byNetwork, clock: changes.clock });
  const secure = createAccountSecurity({ messages, changes, issuer });
  const write = createWriter({ db, changes, deliver: deliveries.deliver, secure });
  const servedPath = publicUrl.slice(serverUrl.length) + settings.basePath;
  const bases = basesOf(issuer, servedPath, [serverUrl, ...settings.resourceUrls]);
  const { denylist, ...tokens } = createTokenParts({ ...given, write, changes, issuer, bases });
  const parts = {
    db,
    write,
    changes,
    directory,
    principals,
    ...tokens,
    knownUsers: createKnownUsers({ db, changes, size }),
    oauthClients: createOAuthClients({ db, changes, size }),
    passwords: createPasswords(settings.hashCost),
    messages,
    deliveries,
    outbound,
    checkForm: formChecker(db.sql),
    limits: createRateLimits({ on: byNetwork, redisUrl: settings.redisUrl, log }),
    issuer,
    sealer,
    settings,
    production,
    log,
  };
  return { parts, denylist, activity, principals };
}

interface TokenDeps extends Given {
  readonly write: ReturnType<typeof createWriter>;
  readonly changes: ReturnType<typeof createChanges>;
  readonly issuer: string;
  /** The addresses at which clients may reach the service, which proofs of possession name. */
  readonly bases: readonly string[];
}

/** Creates what issues access tokens and judges them. */
function createTokenParts({ db, write, changes, sealer, settings, issuer, bases, log }: TokenDeps) {
  const signingKeys = createSigningKeys({ db, write, changes, sealer });
  const denylist = createDenylist({ store: denylistStore(db.sql), changes, log });
  const usedOnce = createUsedOnce(db);
  const proofs = createProofs({ clock: changes.clock, usedOnce, bases });
  const accessTokens = createAccessTokens({
    signingKeys,
    denylist,
    heldScopes: createHeldScopes({ store: scopeStore(db.sql), changes, size: settings.cache }),
    changes,
    proofs,
    issuer,
    audience: settings.audience,
    size: settings.cache,
  });
  return { signingKeys, denylist, usedOnce, proofs, accessTokens };
}

/** Limits by address could block a developer's own tests, so they are off outside production. */
const limitsByAddress = (setting: 'auto' | 'on' | 'off', production: boolean): boolean =>
  setting === 'on' || (setting === 'auto' && production);
