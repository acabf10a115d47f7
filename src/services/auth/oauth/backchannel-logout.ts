import { randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import type { Engine } from '../../../db/engine/index.ts';
import type { AttemptRequest } from '../../../delivery/attempt.ts';
import { createDeliveryQueue, type Outcome } from '../../../delivery/delivery-queue.ts';
import { usualRules, type StatusRules } from '../../../delivery/verdict.ts';
import { logoutStore, type DueLogout, type Logout } from './backchannel-logout.store.ts';
import type { Deps } from './access/deps.ts';
import { Provider } from './oidc-library.ts';

/** Clients are advised to accept a logout token for two minutes. */
const tokenSeconds = 120;

/**
 * Id tokens name the session to every client that has a logout URI. Notifications are queued where sessions end, whatever ends
 * them; only if a user stays signed in but leaves the one client that asked, the library has to report it.
 */
export function tellOfLogouts(
  { db, oauthClients }: Pick<Deps, 'db' | 'oauthClients'>,
  provider: Provider,
): void {
  Object.assign(provider.Client.prototype, {
    includeSid(this: { readonly backchannelLogoutUri?: string }) {
      return this.backchannelLogoutUri !== undefined;
    },
    async backchannelLogout(this: { readonly clientId: string }, user_id: string, sid: string) {
      if (Provider.ctx?.oidc.params?.['logout'] !== undefined) return;
      const client = await oauthClients.find(this.clientId);
      if (client)
        await logoutStore(db.sql).insert({ tenant_id: client.tenant, client_id: client.id, user_id, sid });
    },
  });
}

/** A client confirms a logout with 200 or 204 (OpenID Connect Back-Channel Logout 1.0, section 2.8). */
const rules: StatusRules = { ...usualRules, isDelivered: (status) => status === 200 || status === 204 };

/** Has the engine notify clients of ended sessions until they confirm, or no attempts are left. */
export function notifyOfLogouts(
  engine: Pick<Engine, 'dueRows'>,
  deps: Pick<Deps, 'db' | 'outbound' | 'signingKeys' | 'changes' | 'issuer' | 'log'>,
): void {
  const { db, outbound, log } = deps;

  async function request(logout: DueLogout): Promise<AttemptRequest> {
    return {
      url: logout.url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Plinth-Logout/1.0' },
      body: new URLSearchParams({ logout_token: await logoutToken(deps, logout) }).toString(),
    };
  }

  async function settle(logout: DueLogout, { state, error, delay }: Outcome): Promise<void> {
    const store = logoutStore(db.sql);
    if (delay !== null) return store.putOff(logout, delay);
    if (state === 'failed')
      log.warn({ client: logout.client_id, reason: error }, 'a client was not told of a sign-out');
    await store.delete(logout);
  }

  createDeliveryQueue<DueLogout>({
    engine,
    outbound,
    log,
    name: 'auth_logouts',
    claim: (count) => logoutStore(db.sql).claim(count),
    request,
    settle,
    rules,
  });
}

/** Issues a token that clients verify like an id token (OpenID Connect Back-Channel Logout 1.0, section 2.4), anew for each try. */
async function logoutToken(
  { signingKeys, changes, issuer }: Pick<Deps, 'signingKeys' | 'changes' | 'issuer'>,
  { client_id, user_id, sid }: Logout,
): Promise<string> {
  const alg = 'RS256';
  const key = (await signingKeys.current()).signing.find((one) => one.alg === alg)!;
  const seconds = Math.floor(changes.clock.now() / 1_000);
  return new SignJWT({ sid, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })
    .setProtectedHeader({ alg, kid: key.kid!, typ: 'logout+jwt' })
    .setIssuer(issuer)
    .setAudience(client_id)
    .setSubject(user_id)
    .setJti(randomUUID())
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + tokenSeconds)
    .sign(await importJWK(key, alg));
}
