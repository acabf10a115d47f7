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
import { createActivity } from './activity.ts';
import { admin } from './admin.ts';
import { startAppRemoval } from './app-removal.ts';
import { apps } from './apps.ts';
import { branding } from './branding.ts';
import { createDeliveries } from './deliveries.ts';
import { devices } from './devices.ts';
import { createDirectory } from './directory.ts';
import { encodeError } from './errors.ts';
import { ensureFirstApp } from './first-app.ts';
import { formChecker, forms } from './forms.ts';
import { createKnownUsers } from './known-users.ts';
import { me } from './me.ts';
import { createMessages } from './messages.ts';
import { createPasswords } from './passwords.ts';
import { principalStore } from './principals.store.ts';
import { createPrincipals } from './principals.ts';
import { roles } from './roles.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { tokens } from './token-resolution.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';
import { createWriter } from './writes.ts';

export const auth: ServiceModule<typeof settings> = {
  name: 'auth',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  built: [
    'Admin',
    'Apps',
    'Branding',
    'Devices',
    'Forms',
    'Me_delete',
    'Me_export',
    'Me_get',
    'Me_reauthenticate',
    'Me_switchOrg',
    'Me_update',
    'Roles',
    'Sessions',
    'Tokens',
    'Users',
    'Webhooks',
  ],
  async create({ db, settings, sealer, production, allowPrivateTargets, log }): Promise<Service> {
    await ensureFirstApp(db);
    const changes = createChanges({ db, schema: 'auth', detailed: true, log });
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
    const deps = {
      db,
      write,
      changes,
      directory,
      principals,
      knownUsers: createKnownUsers({ db, changes, size: settings.cache }),
      passwords: createPasswords(settings.hashCost),
      messages: createMessages(),
      deliveries,
      outbound,
      checkForm: formChecker(db),
      sealer,
      settings,
      production,
      log,
    };
    let appRemoval: ReturnType<typeof startAppRemoval> | undefined;
    return {
      handlers: {
        Admin: admin(deps),
        Apps: apps(deps),
        Branding: branding(deps),
        Devices: devices(deps),
        Forms: forms(deps),
        Me: me(deps),
        Roles: roles(deps),
        Sessions: sessions(deps),
        Tokens: tokens(deps),
        Users: users(deps),
        Webhooks: webhooks(deps),
      },
      encodeError,
      ofSession: principals.ofSession,
      async start() {
        await changes.start();
        appRemoval = startAppRemoval({ db, log });
        activity.start();
        deliveries.start();
      },
      async stop() {
        await Promise.all([activity.stop(), appRemoval?.stop(), deliveries.stop()]);
        await outbound.close();
        await changes.stop();
      },
    };
  },
};
