import type { Deps } from './access/deps.ts';
import { scopesForItself, scopesForUser, scopesIn } from '../roles/granted-scopes.ts';
import { isGuarded } from '../directory/guarded-scopes.ts';
import type { OAuthClient } from '../apps/oauth-clients.ts';
import { scopeStore } from '../directory/scopes.store.ts';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { errors } from './oidc-library.ts';

type ResourceIndicators = NonNullable<NonNullable<Configuration['features']>['resourceIndicators']>;

/** Lists the resource servers and the scopes that a client may have for them: the platform, and the client's own audiences. */
export const resourceServers = (deps: Deps): ResourceIndicators => ({
  enabled: true,
  useGrantedResource: () => true,
  defaultResource: (_ctx, _client, granted) => {
    const { audience } = deps.settings;
    return granted === undefined || [granted].flat().includes(audience) ? audience : [granted].flat()[0]!;
  },
  async getResourceServerInfo(ctx, resource, { clientId }) {
    const client = await deps.oauthClients.find(clientId);
    if (!client || (resource !== deps.settings.audience && !client.audiences.includes(resource)))
      throw new errors.InvalidTarget();
    checkKnown(ctx, client);
    const scopes = await allowedScopes(deps, ctx, client);
    return {
      scope: scopes.join(' '),
      audience: resource,
      accessTokenFormat: 'jwt',
      accessTokenTTL: client.access_token_ttl,
      jwt: { sign: { alg: 'ES256' } },
    };
  },
});

/** @throws InvalidScope if the client may have none of the requested scopes */
function checkKnown({ oidc }: KoaContextWithOIDC, client: OAuthClient): void {
  const { scope, grant_type } = oidc.params ?? {};
  if (typeof scope !== 'string') return;
  const allowed = grant_type === 'client_credentials' ? scopesForItself(client.scopes) : client.scopes;
  if (!scopesIn(scope).some((one) => allowed.includes(one)))
    throw new errors.InvalidScope('the client has none of these scopes', scope);
}

/** The scopes that the client may have now, on behalf of the user; before the sign-in, all that it may request. */
async function allowedScopes(
  { db }: Pick<Deps, 'db'>,
  { oidc }: KoaContextWithOIDC,
  { tenant, scopes }: OAuthClient,
): Promise<readonly string[]> {
  if (oidc.params?.['grant_type'] === 'client_credentials') return scopesForItself(scopes);
  const userId = oidc.account?.accountId ?? oidc.session?.accountId;
  if (userId === undefined || !scopes.some(isGuarded)) return scopes;
  return scopesForUser(scopes, await scopeStore(db.sql).ofUser(tenant, userId));
}
