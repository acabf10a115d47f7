/**
 * Accounts of end users for one or more apps, and the platform's own credentials: every other service asks `auth` who a bearer
 * token is.
 *
 * Terminology:
 * - App: a product of a tenant; it owns users, roles, organizations, clients, webhooks, forms and branding. Nothing crosses it.
 * - Publishable key: the public identifier of an app, sent by browsers; it selects the app and proves nothing.
 * - Session: one sign-in of one user, with a session token (short, bearer) and a refresh token (long, single use).
 * - Principal: what a credential resolves to.
 * - Role, permission, scope: a role holds permissions; a permission of an action on a resource is the scope
 *   `<resource>:<action>`.
 * - Change: one revocation or reduction of rights, pushed to every process that caches principals.
 */
import { changes as createChanges } from '../../db/changes.ts';
import type { Service, ServiceModule } from '../../http/service.ts';
import { createOutbound } from '../../lib/outbound.ts';
import { createAccessTokens } from './access-tokens.ts';
import { accounts } from './accounts.ts';
import { createActivity } from './activity.ts';
import { admin } from './admin.ts';
import { startAppRemoval } from './app-removal.ts';
import { apps } from './apps.ts';
import { branding } from './branding.ts';
import { clients } from './clients.ts';
import { consents, consentsOf } from './consents.ts';
import { createDeliveries } from './deliveries.ts';
import { createDenylist, denialMs } from './denylist.ts';
import { denylistStore } from './denylist.store.ts';
import { devices } from './devices.ts';
import { createDirectory } from './directory.ts';
import { discovery } from './discovery.ts';
import { ensureFirstApp } from './first-app.ts';
import { formChecker, forms } from './forms.ts';
import { createHeldScopes } from './held-scopes.ts';
import { createInteractions } from './interactions.ts';
import { invitations } from './invitations.ts';
import { issuerOf } from './issuer.ts';
import { createSigningKeys } from './key-set.ts';
import { createKnownUsers } from './known-users.ts';
import { me } from './me.ts';
import { members } from './members.ts';
import { waysOf } from './message-drivers.ts';
import { createMessages } from './messages.ts';
import { mfa } from './mfa.ts';
import { createOAuthClients } from './oauth-clients.ts';
import { encodeErrorOf } from './oauth-errors.ts';
import { oauth } from './oauth.ts';
import { createOidcProvider } from './oidc-provider.ts';
import { organizations } from './organizations.ts';
import { createOrigins } from './origins.ts';
import { outbox } from './outbox.ts';
import { pages } from './pages.ts';
import { renderPage } from './pages/layout.ts';
import { plainLook } from './pages/look.ts';
import { unexpectedPage } from './pages/message-pages.ts';
import { createPasswords } from './passwords.ts';
import { phone } from './phone.ts';
import { principalStore } from './principals.store.ts';
import { createPrincipals } from './principals.ts';
import { createRateLimits } from './rate-limits.ts';
import { startRequests } from './requests.ts';
import { roles } from './roles.ts';
import { scopeStore } from './scopes.store.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { startKeyRotation } from './signing-key-rotation.ts';
import { signingKeys } from './signing-keys.ts';
import { startSweep } from './sweep.ts';
import { teams } from './teams.ts';
import { tokens } from './token-resolution.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';
import { limitedVisits } from './visits.ts';
import { createWriter } from './writes.ts';

export const auth: ServiceModule<typeof settings> = {
  name: 'auth',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  basePath: ({ basePath }) => ({ documented: '/v1/auth', served: basePath }),
  async create({ db, settings, sealer, production, allowPrivateTargets, prefix, log }): Promise<Service> {
    await ensureFirstApp(db);
    const changes = createChanges({ db, schema: 'auth', detailed: true, retentionMs: denialMs, log });
    const directory = createDirectory({ db, changes });
    const activity = createActivity({ db, log });
    const principals = createPrincipals({
      read: (wanted) => principalStore(db.sql).sessions(wanted),
      changes,
      directory,
      activity,
      size: settings.cache,
    });
    const outbound = createOutbound({
      allowPrivate: allowPrivateTargets,
      allowNetworks: settings.allowNetworks,
    });
    const deliveries = createDeliveries({ db, outbound, sealer, log });
    const write = createWriter({ db, changes, deliver: deliveries.deliver });
    const signing = createSigningKeys({ db, write, changes, sealer });
    const denylist = createDenylist({ store: denylistStore(db.sql), changes, log });
    const issuer = issuerOf(settings, prefix);
    const deps = {
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
        issuer,
        audience: settings.audience,
        size: settings.cache,
      }),
      knownUsers: createKnownUsers({ db, changes, size: settings.cache }),
      signingKeys: signing,
      oauthClients: createOAuthClients({ db, changes, size: settings.cache }),
      passwords: createPasswords(settings.hashCost),
      messages: createMessages({ db, ways: waysOf(settings, production), sealer, log }),
      deliveries,
      outbound,
      checkForm: formChecker(db.sql),
      limits: createRateLimits({
        on: limitsByAddress(settings.rateLimit, production),
        redisUrl: settings.redisUrl,
        log,
      }),
      issuer,
      sealer,
      settings,
      production,
      log,
    };
    const oauthDeps = { ...deps, oidc: createOidcProvider(deps) };
    const origins = createOrigins({ db, changes, log });
    const background: { stop(): Promise<unknown> }[] = [];
    return {
      handlers: {
        Accounts: accounts(deps),
        Admin: admin(deps),
        Apps: apps(deps),
        Branding: branding(deps),
        Clients: clients(deps),
        Devices: devices(deps),
        Discovery: limitedVisits(discovery(oauthDeps), deps.limits),
        Forms: forms(deps),
        Invitations: invitations(deps),
        Me: { ...me({ ...deps, consentsOf: consentsOf(db) }), ...consents(deps) },
        Members: members(deps),
        Mfa: mfa(deps),
        OAuth: limitedVisits(oauth(oauthDeps), deps.limits, callsOfPrograms),
        Organizations: organizations(deps),
        Outbox: outbox(deps),
        Pages: limitedVisits(pages(deps, createInteractions(deps, oauthDeps.oidc)), deps.limits),
        Phone: phone(deps),
        Roles: roles(deps),
        Sessions: sessions(deps),
        SigningKeys: signingKeys(deps),
        Teams: teams(deps),
        Tokens: tokens(deps),
        Users: users(deps),
        Webhooks: webhooks(deps),
      },
      encodeError: (error, _status, operation) => encodeErrorOf(error, operation),
      errorPage: (error) => renderPage(unexpectedPage(error), plainLook('Plinth')),
      ofSession: principals.ofSession,
      ofAccessToken: deps.accessTokens.resolve,
      allowsOrigin: (origin) => origins.has(origin),
      async start() {
        await changes.start();
        await deps.signingKeys.check();
        await denylist.start();
        await origins.load();
        activity.start();
        deliveries.start();
        deps.messages.start();
        background.push(
          activity,
          deliveries,
          deps.messages,
          startRequests(deps),
          startSweep(deps),
          startAppRemoval({ db, log }),
          startKeyRotation(deps),
        );
      },
      async stop() {
        await Promise.all(background.map((work) => work.stop()));
        deps.limits.stop();
        await outbound.close();
        denylist.stop();
        await changes.stop();
      },
    };
  },
};

/** They have limits of their own, and to revoke is never refused. */
const callsOfPrograms = ['token', 'par', 'introspect', 'revoke', 'userinfo', 'postUserinfo'] as const;

/** Limits by address can keep a developer's own tests out, so they are off outside production. */
const limitsByAddress = (setting: 'auto' | 'on' | 'off', production: boolean): boolean =>
  setting === 'on' || (setting === 'auto' && production);
