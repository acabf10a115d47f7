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
import { accounts } from './accounts.ts';
import { branding } from './branding.ts';
import { createDeliveries } from './deliveries.ts';
import { createDirectory } from './directory.ts';
import { encodeError } from './errors.ts';
import { startFactorSweep } from './factor-sweep.ts';
import { ensureFirstApp } from './first-app.ts';
import { formChecker, forms } from './forms.ts';
import { issuerOf } from './issuer.ts';
import { waysOf } from './message-drivers.ts';
import { createMessages } from './messages.ts';
import { mfa } from './mfa.ts';
import { createOrigins } from './origins.ts';
import { outbox } from './outbox.ts';
import { createPasswords } from './passwords.ts';
import { phone } from './phone.ts';
import { createPrincipals } from './principals.ts';
import { createRateLimits } from './rate-limits.ts';
import { startRequests } from './requests.ts';
import { settings } from './settings.ts';
import { startAccountSweep } from './account-sweep.ts';
import { webhooks } from './webhooks.ts';
import { createWriter } from './writes.ts';

export const auth: ServiceModule<typeof settings> = {
  name: 'auth',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  built: ['Accounts', 'Branding', 'Forms', 'Mfa', 'Outbox', 'Phone', 'Webhooks'],
  async create({ db, settings, sealer, production, allowPrivateTargets, prefix, log }): Promise<Service> {
    await ensureFirstApp(db);
    const changes = createChanges({ db, schema: 'auth', log });
    const directory = createDirectory({ db, changes });
    const principals = createPrincipals({ db, directory });
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
      passwords: createPasswords(settings.hashCost),
      messages: createMessages({ db, ways: waysOf(settings, production), log }),
      deliveries,
      outbound,
      checkForm: formChecker(db),
      limits: createRateLimits({ on: limitsByAddress(settings.rateLimit, production) }),
      issuer: issuerOf(settings, prefix),
      sealer,
      settings,
      production,
      log,
    };
    const origins = createOrigins({ db, changes, log });
    const background: { stop(): Promise<unknown> }[] = [];
    return {
      handlers: {
        Accounts: accounts(deps),
        Branding: branding(deps),
        Forms: forms(deps),
        Mfa: mfa(deps),
        Outbox: outbox(deps),
        Phone: phone(deps),
        Webhooks: webhooks(deps),
      },
      encodeError,
      ofSession: principals.ofSession,
      allowsOrigin: (origin) => origins.has(origin),
      async start() {
        await changes.start();
        await origins.load();
        deliveries.start();
        deps.messages.start();
        background.push(startRequests(deps), startAccountSweep(deps), startFactorSweep(deps));
        background.push(deliveries, deps.messages);
      },
      async stop() {
        await Promise.all(background.map((work) => work.stop()));
        await outbound.close();
        await changes.stop();
      },
    };
  },
};

/** `auto` is `on` in production. */
const limitsByAddress = (rateLimit: 'auto' | 'on' | 'off', production: boolean) =>
  rateLimit === 'on' || (rateLimit === 'auto' && production);
