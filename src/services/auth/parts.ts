/**
 * Accounts of end users for one or more apps, and the platform's own credentials: every other service resolves bearer tokens
 * through `auth`.
 *
 * Terminology:
 * - App: a product of a tenant; it owns users, roles, organizations, clients, webhooks, forms and branding, all separate by app.
 * - Publishable key: the public identifier of an app, sent by browsers; it selects the app and proves nothing.
 * - Session: one sign-in of one user, with a session token (short-lived, bearer) and a refresh token (long-lived, single use).
 * - Principal: the identity that a credential resolves to.
 * - Role, permission, scope: a role holds permissions; a permission for an action on a resource is the scope
 *   `<resource>:<action>`.
 * - Change: one revocation or reduction of rights, pushed to every process that caches principals.
 */
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

/** Creates what the handlers and the background work of the service share, in the order in which the parts need each other. */
export function createParts({
  db,
  engine,
  settings,
  sealer,
  production,
  allowPrivateTargets,
  publicUrl,
  serverUrl,
  log,
}: ServiceDeps<SettingsOf<typeof declared>>) {
  const changes = createChanges({ db, schema: 'auth', detailed: true, retentionMs: denialMs, log });
  const directory = createDirectory({ db, changes });
  const activity = createActivity({ db, log });
  const principals = createPrincipals({
    read: (wanted) => liveSessions(db.sql, wanted),
    changes,
    directory,
    activity,
    size: settings.cache,
  });
  const outbound = createOutbound({
    allowPrivate: allowPrivateTargets,
    allowNetworks: settings.allowNetworks,
  });
  const deliveries = createDeliveries({ db, engine, clock: changes.clock, outbound, log, sealer });
  const issuer = issuerOf(settings, publicUrl);
  const byAddress = limitsByAddress(settings.rateLimit, production);
  const messages = createUserMessages({
    db,
    engine,
    settings,
    production,
    byNetwork: byAddress,
    clock: changes.clock,
    sealer,
    log,
  });
  const secure = createAccountSecurity({ messages, changes, issuer });
  const write = createWriter({ db, changes, deliver: deliveries.deliver, secure });
  const signing = createSigningKeys({ db, write, changes, sealer });
  const denylist = createDenylist({ store: denylistStore(db.sql), changes, log });
  const usedOnce = createUsedOnce(db);
  const servedPath = publicUrl.slice(serverUrl.length) + settings.basePath;
  const bases = basesOf(issuer, servedPath, [serverUrl, ...settings.resourceUrls]);
  const proofs = createProofs({ clock: changes.clock, usedOnce, bases });
  const parts = {
    db,
    write,
    changes,
    directory,
    principals,
    accessTokens: createAccessTokens({
      signingKeys: signing,
      denylist,
      heldScopes: createHeldScopes({ store: scopeStore(db.sql), changes, size: settings.cache }),
      changes,
      proofs,
      issuer,
      audience: settings.audience,
      size: settings.cache,
    }),
    proofs,
    usedOnce,
    knownUsers: createKnownUsers({ db, changes, size: settings.cache }),
    signingKeys: signing,
    oauthClients: createOAuthClients({ db, changes, size: settings.cache }),
    passwords: createPasswords(settings.hashCost),
    messages,
    deliveries,
    outbound,
    checkForm: formChecker(db.sql),
    limits: createRateLimits({
      on: byAddress,
      redisUrl: settings.redisUrl,
      log,
    }),
    issuer,
    sealer,
    settings,
    production,
    log,
  };
  return { parts, denylist, activity, principals };
}

/** Limits by address could block a developer's own tests, so they are off outside production. */
const limitsByAddress = (setting: 'auto' | 'on' | 'off', production: boolean): boolean =>
  setting === 'on' || (setting === 'auto' && production);
