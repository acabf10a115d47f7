import { shownName } from '../apps/client-metadata.ts';
import { hasSecret, isNative } from '../apps/client-rules.ts';
import type { Deps } from './access/deps.ts';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { openDevice, sealedDevice } from './device-secrets.ts';
import { isOidc } from '../roles/granted-scopes.ts';
import { keepHostedSession } from '../sessions/hosted-sessions.ts';
import type { OAuthClient } from '../apps/oauth-clients.ts';
import { endGrantOfClient } from './oauth-grants.ts';
import { errors, Provider } from './oidc-library.ts';
import { elapsedOfCurrent, visitOfCurrent } from './oidc-requests.ts';
import { oidcStore, type FoundOidc, type OidcRow } from '../directory/oidc.store.ts';
import { sha256 } from '../directory/tokens.ts';
import { userCodeHash } from '../directory/user-codes.ts';

/** Seconds after its end during which a device code is reported as expired rather than unknown. */
const expiredDeviceSeconds = 600;
/** Models for which a concurrent second use has only lost a race, and ends nothing. */
const raced: ReadonlySet<string> = new Set(['RefreshToken', 'DeviceCode']);

/** The storage of the OAuth library. Its clients are those of the service. */
export const createOidcAdapter =
  (deps: Deps) =>
  (model: string): Adapter =>
    model === 'Client' ? clientAdapter(deps) : new StoredModel(deps, model);

/** A used code is remembered this long after its use, so that a late copy still ends the grant. */
const usedCodeSeconds = 3_600;

/** Two requests within this time count as concurrent, whatever their routes. */
const sameMomentMs = 1_000;

/**
 * Whether a refresh token was used about when the current request arrived. Two windows of one program that refresh at once are a
 * race, which ends nothing. A later use is a copy, and ends the grant.
 */
const lostRace = ({ consumed_ago }: FoundOidc): boolean =>
  consumed_ago !== null && consumed_ago < elapsedOfCurrent() + sameMomentMs;

/** Records of one kind, found by the SHA-256 of their ids. */
class StoredModel implements Adapter {
  readonly #deps: Deps;
  readonly #model: string;

  constructor(deps: Deps, model: string) {
    this.#deps = deps;
    this.#model = model;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const client = await this.#clientOf(payload);
    const row = rowOf(
      this.#model,
      id,
      sealedDevice(this.#deps, this.#model, id, payload),
      client?.tenant ?? null,
    );
    if (this.#model === 'Session' && payload.accountId !== undefined)
      return this.#keepSession(row, payload, expiresIn ?? 0);
    const longer = this.#model === 'DeviceCode' ? expiredDeviceSeconds : 0;
    await oidcStore(this.#deps.db.sql).upsert(row, expiresIn === undefined ? null : expiresIn + longer);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await oidcStore(this.#deps.db.sql).find(this.#model, sha256(id));
    if (found && raced.has(this.#model) && lostRace(found)) return undefined;
    return found && openDevice(this.#deps, payloadOf(found, id));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const found = await oidcStore(this.#deps.db.sql).findByUid(this.#model, uid);
    return found && payloadOf(found);
  }

  /** The library compares the code again. */
  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    const found = await oidcStore(this.#deps.db.sql).findByUserCode(userCodeHash(userCode));
    return found && { ...openDevice(this.#deps, payloadOf(found)), userCode };
  }

  /** Of concurrent calls, the first succeeds. A second use of an authorization code is never legitimate: it ends the grant. */
  async consume(id: string): Promise<void> {
    const store = oidcStore(this.#deps.db.sql);
    const keptFor = this.#model === 'AuthorizationCode' ? usedCodeSeconds : null;
    if (await store.consume(this.#model, sha256(id), keptFor)) return;
    if (this.#model === 'AuthorizationCode') await this.#endGrantOf(id);
    throw new errors.InvalidGrant('already used');
  }

  async destroy(id: string): Promise<void> {
    if (this.#model === 'Grant') return this.#endGrant(id);
    const found = await oidcStore(this.#deps.db.sql).delete(this.#model, sha256(id));
    // If two browser tabs return at once, only one continues.
    if (!found && this.#model === 'Interaction')
      throw new errors.SessionNotFound('the authorization is over');
  }

  /** Destroying a grant already ends everything issued from it. */
  async revokeByGrantId(): Promise<void> {}

  async #clientOf({ clientId, params }: AdapterPayload): Promise<OAuthClient | undefined> {
    const id = clientId ?? params?.['client_id'];
    return typeof id === 'string' ? this.#deps.oauthClients.find(id) : undefined;
  }

  async #endGrantOf(id: string): Promise<void> {
    const found = await oidcStore(this.#deps.db.sql).find(this.#model, sha256(id));
    const { clientId, grantId } = (found?.payload ?? {}) as AdapterPayload;
    if (grantId !== undefined) await endGrantOfClient(this.#deps, clientId, grantId);
  }

  async #endGrant(id: string): Promise<void> {
    const found = await oidcStore(this.#deps.db.sql).find('Grant', sha256(id));
    await endGrantOfClient(this.#deps, found?.payload['clientId'] as string | undefined, id);
  }

  async #keepSession(row: OidcRow, { uid, accountId, loginTs }: AdapterPayload, expiresIn: number) {
    const clientId = Provider.ctx?.oidc.client?.clientId;
    const client = clientId === undefined ? undefined : await this.#deps.oauthClients.find(clientId);
    const app = client && (await this.#deps.directory.app(client.app));
    const kept = await keepHostedSession(
      this.#deps,
      { uid: uid!, userId: accountId!, authenticatedAt: loginTs ?? 0, expiresIn },
      app,
      visitOfCurrent(),
      ({ sql, tenant }) => oidcStore(sql).upsert({ ...row, tenant_id: tenant }, expiresIn),
    );
    if (!kept) throw new errors.SessionNotFound('the session has ended');
  }
}

function rowOf(model: string, id: string, payload: AdapterPayload, tenant: string | null): OidcRow {
  const { jti: _, userCode: _typed, ...kept } = payload;
  const params = payload.params?.['client_id'];
  return {
    model,
    id_hash: sha256(id),
    payload: withoutCookie(kept),
    grant_id: model === 'Grant' ? id : (payload.grantId ?? null),
    uid: model === 'Session' ? (payload.uid ?? null) : null,
    session_uid: payload.sessionUid ?? null,
    user_id: payload.accountId ?? payload.session?.accountId ?? null,
    client_id: payload.clientId ?? (typeof params === 'string' ? params : null),
    tenant_id: tenant,
    user_code_hash: payload.userCode === undefined ? null : userCodeHash(payload.userCode),
  };
}

/** Removes the session's secret from an interaction, because nothing reads it. */
function withoutCookie({ session, ...payload }: AdapterPayload): object {
  if (session === undefined) return payload;
  const { cookie: _, ...rest } = session;
  return { ...payload, session: rest };
}

const payloadOf = ({ payload, consumed_ago }: FoundOidc, id?: string): AdapterPayload => ({
  ...payload,
  ...(id !== undefined && { jti: id }),
  ...(consumed_ago !== null && { consumed: true }),
});

/** Clients in the library's format. Their secrets are omitted: `compareClientSecret` reads the hashes itself. */
const clientAdapter = ({ oauthClients }: Deps): Adapter => ({
  async find(id) {
    const client = await oauthClients.find(id);
    return client && metadataOf(client);
  },
  findByUid: nothing,
  findByUserCode: nothing,
  upsert: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
});

/** The library creates no clients; it only reads them. */
const nothing = async () => {};

const metadataOf = (client: OAuthClient): AdapterPayload => ({
  client_id: client.id,
  client_name: shownName(client),
  redirect_uris: client.redirect_uris,
  post_logout_redirect_uris: client.post_logout_redirect_uris,
  grant_types: client.grant_types,
  response_types: client.grant_types.includes('authorization_code') ? ['code'] : [],
  application_type: isNative(client) ? 'native' : 'web',
  token_endpoint_auth_method: client.token_endpoint_auth_method,
  require_pkce: client.require_pkce,
  dpop_bound_access_tokens: client.dpop_bound_access_tokens,
  ...(client.jwks !== null && { jwks: client.jwks }),
  ...(client.jwks_uri !== null && { jwks_uri: client.jwks_uri }),
  ...(hasSecret(client) && { client_secret: 'kept elsewhere' }),
  ...(client.backchannel_logout_uri !== null && { backchannel_logout_uri: client.backchannel_logout_uri }),
  // The library knows only these scopes; it would treat an empty list as all of them.
  scope: client.scopes.filter(isOidc).join(' ') || 'openid',
});
