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
import { accessToken } from '../../http/access-token.ts';
import { sessionToken } from '../../http/credentials.ts';
import type { Service, ServiceModule } from '../../http/service.ts';
import type { Sealer } from '../../lib/seal.ts';
import { appRemoval } from './apps/app-removal.ts';
import { notifyOfLogouts } from './oauth/backchannel-logout.ts';
import { ensureFirstApp } from './directory/first-app.ts';
import { metadataPathOf } from './directory/issuer.ts';
import { encodeErrorOf } from './oauth/oauth-errors.ts';
import { createOrigins } from './apps/origins.ts';
import { mailboxKey } from './hosted/mailbox-key.ts';
import { isDelivered } from './webhooks/deliveries.store.ts';
import { renderPage } from './views/layout.ts';
import { plainLook } from './look/look.ts';
import { unexpectedPage } from './views/message-pages.ts';
import { remotePrincipals } from './oauth/access/remote-principals.ts';
import { checkMessageSettings } from './messages/messages.ts';
import { carryOutRequests } from './messages/requests.ts';
import { settings } from './settings.ts';
import { keyRotation } from './oauth/keys/signing-key-rotation.ts';
import { remainsSweep } from './sweep.ts';
import { handlersOf } from './handlers.ts';
import { createParts } from './parts.ts';

/** The address of the page that shows messages to users, with the key that opens it. */
const mailboxPage = (at: string, { basePath }: { readonly basePath: string }, sealer: Pick<Sealer, 'mac'>) =>
  `${at}${basePath}/dev/outbox/page?key=${mailboxKey(sealer)}`;

export const auth: ServiceModule<typeof settings> = {
  name: 'auth',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  notes({ settings, sealer, production, publicUrl }) {
    return production
      ? []
      : [['mailbox', `mail and codes to users: ${mailboxPage(publicUrl, settings, sealer)}`]];
  },
  checkSettings: ({ settings, production }) => checkMessageSettings(settings, production),
  basePath: ({ basePath }) => ({ documented: '/v1/auth', served: basePath }),
  async create(given): Promise<Service> {
    const { db, engine, log } = given;
    await ensureFirstApp(db);
    const { parts, denylist, activity, principals } = createParts(given);
    const { changes, passwords, limits, outbound, messages, issuer } = parts;
    notifyOfLogouts(engine, parts);
    carryOutRequests(engine, parts);
    const origins = createOrigins({ db, changes, log });
    return {
      handlers: handlersOf(parts),
      encodeError: (error, _status, operation) => encodeErrorOf(error, operation),
      sweeps: [remainsSweep(db), changes.sweep, appRemoval(db), keyRotation(parts)],
      outbox: { needed: isDelivered },
      errorPage: (error) => renderPage(unexpectedPage(error), plainLook('Plinth')),
      credentials: [sessionToken(principals.ofSession), accessToken(parts.accessTokens.resolve)],
      developerLinks: given.production
        ? []
        : [
            {
              href: mailboxPage(
                new URL(given.publicUrl).pathname.replace(/\/$/, ''),
                given.settings,
                given.sealer,
              ),
              text: 'Open the development mailbox',
              description:
                'During development, emails and texts to users are not sent. A mailbox keeps them.',
            },
          ],
      alsoAt: { Discovery_authorizationServer: metadataPathOf(issuer) },
      queues() {
        const { hashes, strength } = passwords.load();
        return [
          { queue: 'auth.password_hashes', ...hashes },
          { queue: 'auth.password_strength', ...strength },
        ];
      },
      allowsOrigin: (origin) => origins.has(origin),
      async start() {
        await changes.start();
        await parts.signingKeys.check();
        await denylist.start();
        await origins.load();
        activity.start();
        messages.start();
      },
      async stop() {
        await Promise.all([activity.stop(), messages.stop()]);
        limits.stop();
        await outbound.close();
        denylist.stop();
        await changes.stop();
      },
    };
  },
  remoteCredentials: remotePrincipals,
};
