import { errors, Provider, type Adapter, type AdapterPayload } from 'oidc-provider';
import { isNative } from './client-rules.ts';
import type { Deps } from './deps.ts';
import { isOidc } from './granted-scopes.ts';
import { keepHostedSession } from './hosted-sessions.ts';
import type { OAuthClient } from './oauth-clients.ts';
import { endGrantOfClient } from './oauth-grants.ts';
import { visitOfCurrent } from './oidc-requests.ts';
import { oidcStore, type FoundOidc, type OidcRow } from './oidc.store.ts';
import { sha256 } from './tokens.ts';

/** Two who send a code or a refresh token within this time are in a race; later it is a copy, which ends the grant. */
const raceMs = 10_000;
const raced: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken']);

/** Where the OAuth library keeps what it knows. The clients are those of the service. */
export const createOidcAdapter =
  (deps: Deps) =>
  (model: string): Adapter =>
    model === 'Client' ? clientAdapter(deps) : new StoredModel(deps, model);

/** Things of one kind, found by the SHA-256 of their ids. */
class StoredModel implements Adapter {
  readonly #deps: Deps;
  readonly #model: string;

  constructor(deps: Deps, model: string) {
    this.#deps = deps;
    this.#model = model;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const client = await this.#clientOf(payload);
    const row = rowOf(this.#model, id, payload, client?.tenant ?? null);
    if (this.#model === 'Session' && payload.accountId !== undefined)
      return this.#keepSession(row, payload, expiresIn ?? 0);
    await oidcStore(this.#deps.db.sql).upsert(row, expiresIn ?? null);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await oidcStore(this.#deps.db.sql).find(this.#model, sha256(id));
    if (found && raced.has(this.#model) && (found.consumed_ago ?? raceMs) < raceMs) return undefined;
    return found && payloadOf(found, id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const found = await oidcStore(this.#deps.db.sql).findByUid(this.#model, uid);
    return found && payloadOf(found);
  }

  /** The flow for devices, whose codes these would be, is off. */
  async findByUserCode(): Promise<undefined> {}

  /** Of those who come at once the first one is served. */
  async consume(id: string): Promise<void> {
    if (!(await oidcStore(this.#deps.db.sql).consume(this.#model, sha256(id))))
      throw new errors.InvalidGrant('already used');
  }

  async destroy(id: string): Promise<void> {
    if (this.#model === 'Grant') return this.#endGrant(id);
    const found = await oidcStore(this.#deps.db.sql).delete(this.#model, sha256(id));
    // Of two browsers' tabs that come back at once, one goes on.
    if (!found && this.#model === 'Interaction')
      throw new errors.SessionNotFound('the authorization is over');
  }

  /** All that comes of a grant ends with it, when the library destroys it. */
  async revokeByGrantId(): Promise<void> {}

  async #clientOf({ clientId, params }: AdapterPayload): Promise<OAuthClient | undefined> {
    const id = clientId ?? params?.['client_id'];
    return typeof id === 'string' ? this.#deps.oauthClients.find(id) : undefined;
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
  const { jti: _, ...kept } = payload;
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
  };
}

/** An interaction would name the browser's session by its secret, which nothing reads. */
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

/** Clients as the library wants them. Their secrets are not here: `compareClientSecret` has its own way to the hashes. */
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

/** The library makes no clients; it only reads them. */
const nothing = async () => {};

const metadataOf = (client: OAuthClient): AdapterPayload => ({
  client_id: client.id,
  client_name: client.name,
  redirect_uris: client.redirect_uris,
  post_logout_redirect_uris: client.post_logout_redirect_uris,
  grant_types: client.grant_types,
  response_types: client.grant_types.includes('authorization_code') ? ['code'] : [],
  application_type: isNative(client) ? 'native' : 'web',
  token_endpoint_auth_method: client.public ? 'none' : 'client_secret_basic',
  require_pkce: client.require_pkce,
  ...(!client.public && { client_secret: 'kept elsewhere' }),
  // The library knows these words only; where there are none it would take the absence for all of them.
  scope: client.scopes.filter(isOidc).join(' ') || 'openid',
});
