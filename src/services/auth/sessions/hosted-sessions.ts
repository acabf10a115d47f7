import { newId } from '../../../lib/ids.ts';
import type { Visit } from '../directory/visit.ts';
import { recognizeDevice } from './device-recognition.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { hostedSessionStore } from './hosted-sessions.store.ts';
import { endSessions } from './revocations.ts';
import { sessionStore } from './sessions.store.ts';
import { userStore } from '../directory/users.store.ts';
import type { Write } from '../directory/writes.ts';

/** A browser that signed in at the provider. */
export interface SignedInBrowser {
  /** The provider's id of the session. */
  readonly uid: string;
  readonly userId: string;
  /** When the user authenticated, in seconds since 1970. */
  readonly authenticatedAt: number;
  /** Seconds from now until it ends. */
  readonly expiresIn: number;
}

/**
 * Registers the browser's session as a session of the platform, listed and revocable like all others, or extends it. `save`
 * stores the provider's own session in the same transaction. Returns false, storing nothing, if the session was ended meanwhile.
 */
export async function keepHostedSession(
  { db, write, directory }: Pick<Deps, 'db' | 'write' | 'directory'>,
  browser: SignedInBrowser,
  app: KnownApp | undefined,
  visit: Visit,
  save: (write: Write) => Promise<void>,
): Promise<boolean> {
  const known = await hostedSessionStore(db.sql).find(browser.uid);
  const place = known ?? (app && { tenant: app.tenant, app: app.id });
  if (place === undefined || (known && known.user_id !== browser.userId)) return false;
  const tag = await directory.tagOf(place.tenant);
  return write({ tenant: place.tenant, app: place.app, actor: browser.userId }, async (tx) => {
    if (known) {
      const { uid: _, ...end } = browser;
      const extended = await hostedSessionStore(tx.sql).extend(
        tx.tenant,
        known.id,
        end.expiresIn,
        end.authenticatedAt,
      );
      if (!extended) return false;
    } else await begin(tx, app!, tag, browser, visit);
    await save(tx);
    return true;
  });
}

async function begin(tx: Write, app: KnownApp, tag: string, browser: SignedInBrowser, visit: Visit) {
  const { userId, uid, expiresIn } = browser;
  await userStore(tx.sql).hold(tx.tenant, tx.app, userId);
  const { device } = await recognizeDevice(tx, userId, tag, visit);
  const store = sessionStore(tx.sql);
  const { id } = await store.insert({
    id: newId('sess'),
    tenant_id: tx.tenant,
    app_id: tx.app,
    user_id: userId,
    kind: 'hosted',
    org_id: null,
    ip_address: visit.ip,
    user_agent: visit.userAgent,
    device_id: device.id,
    impersonated_by: null,
    impersonator_session_id: null,
    token_hash: null,
    refresh_hash: null,
    expires_in: expiresIn * 1000,
    refresh_expires_in: expiresIn * 1000,
  });
  await hostedSessionStore(tx.sql).link(tx.tenant, id, uid);
  tx.emit('auth.session.created', id, { user_id: userId, session_id: id });
  const { max_sessions } = app.settings;
  if (max_sessions > 0)
    await endSessions(tx, await store.surplus(tx.tenant, userId, max_sessions), 'max_sessions');
}

/** Ends the browser's session with everything that the provider stores for it. */
export async function endHostedSession(
  { db, write }: Pick<Deps, 'db' | 'write'>,
  uid: string,
): Promise<void> {
  const known = await hostedSessionStore(db.sql).find(uid);
  if (!known || known.ended) return;
  const author = { tenant: known.tenant, app: known.app, actor: known.user_id };
  await write(author, (tx) => endSessions(tx, [known.id], 'signout'));
}
