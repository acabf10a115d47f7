import { proofAlgorithms } from '../../../http/access-token.ts';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { acrValues } from './acr.ts';
import { assertionAlgorithms, checkAssertionBy, fetchBy } from './client-assertions.ts';
import { existingGrant } from './consents.ts';
import type { Deps } from './access/deps.ts';
import { deviceFlow } from './device-pages.ts';
import { oidcScopes, scopesIn } from '../roles/granted-scopes.ts';
import { noteAccessToken } from './issued-tokens.ts';
import { resourceServers } from './oauth-resources.ts';
import { createOidcAdapter } from './oidc-adapter.ts';
import { interactionPolicy } from './oidc-library.ts';
import { showLoggedOut, showLogout } from './oidc-pages.ts';
import type { KeySet } from './keys/signing-keys.ts';
import { claimsOf, claimsOfScopes } from './user-claims.ts';

const hour = 3_600;
const day = 24 * hour;
/** A grant ends this long after the sign-in, however often it is refreshed. */
const longestGrant = 90 * day;

/** The library's configuration for one state of the keys. */
export const oidcConfiguration = (deps: Deps, keys: KeySet): Configuration => ({
  adapter: createOidcAdapter(deps),
  jwks: { keys: keys.signing },
  scopes: oidcScopes,
  claims: { ...claimsOfScopes, openid: [...claimsOfScopes.openid, 'acr', 'amr'] },
  acrValues,
  responseTypes: ['code'],
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
  enabledJWA: {
    idTokenSigningAlgValues: ['RS256'],
    clientAuthSigningAlgValues: assertionAlgorithms,
    dPoPSigningAlgValues: proofAlgorithms,
  },
  assertJwtClientAuthClaimsAndHeader: checkAssertionBy(deps.changes.clock),
  fetch: (...request) => fetchBy(deps.outbound)(...request),
  pkce: { required: (_ctx, client) => client['require_pkce'] === true },
  extraClientMetadata: { properties: ['require_pkce'] },
  routes,
  features: features(deps),
  ttl: lifetimes,
  cookies: cookies(deps),
  interactions: {
    url: (_ctx, { uid }) => `${deps.issuer}/oauth2/interactions/${uid}`,
    policy: policy(),
  },
  formats: { customizers: { jwt: (_ctx, token, jwt) => noteAccessToken(deps, token, jwt) } },
  findAccount: (ctx, id) => findAccount(deps, ctx, id),
  loadExistingGrant: (ctx) => existingGrant(deps, ctx),
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  revokeGrantPolicy: () => true,
  renderError(ctx, out) {
    ctx.body = out;
  },
});

const routes: Configuration['routes'] = {
  authorization: '/oauth2/authorize',
  token: '/oauth2/token',
  introspection: '/oauth2/introspect',
  revocation: '/oauth2/revoke',
  pushed_authorization_request: '/oauth2/par',
  end_session: '/oauth2/logout',
  device_authorization: '/oauth2/device-authorization',
  code_verification: '/oauth2/device',
  jwks: '/.well-known/jwks.json',
};

/** What the provider offers besides the authorization code. */
const features = (deps: Deps): Configuration['features'] => ({
  devInteractions: { enabled: false },
  dPoP: { enabled: true },
  userinfo: { enabled: false },
  clientCredentials: { enabled: true },
  revocation: { enabled: true },
  pushedAuthorizationRequests: { enabled: true },
  introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => isOfApp(deps, client, token) },
  backchannelLogout: { enabled: true },
  deviceFlow: deviceFlow(deps),
  resourceIndicators: resourceServers(deps),
  rpInitiatedLogout: {
    enabled: true,
    logoutSource: (ctx) => showLogout(deps, ctx),
    postLogoutSuccessSource: (ctx) => showLoggedOut(deps, ctx),
  },
});

/** Lifetimes in seconds. */
const lifetimes: Configuration['ttl'] = {
  AuthorizationCode: 60,
  DeviceCode: hour / 6,
  IdToken: hour,
  Interaction: hour,
  Session: 30 * day,
  Grant: longestGrant,
  RefreshToken: (_ctx, token) => Math.max(1, Math.min(30 * day, longestGrant - token.totalLifetime())),
  AccessToken: (_ctx, { resourceServer }) => resourceServer?.accessTokenTTL ?? hour,
  ClientCredentials: (_ctx, { resourceServer }) => resourceServer?.accessTokenTTL ?? hour,
};

const cookies = (deps: Deps): Configuration['cookies'] => ({
  names: { session: 'plinth_session', interaction: 'plinth_interaction', resume: 'plinth_resume' },
  long: { ...cookie, path: `${new URL(deps.issuer).pathname.replace(/\/$/, '')}/oauth2` },
  short: cookie,
  keys: cookieKeys(deps),
});

const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;

/** Cookies are signed by HMAC-SHA-256 under the master key. */
function cookieKeys({ sealer }: Pick<Deps, 'sealer'>) {
  const purpose = 'auth/cookies/v1';
  const verify = (data: string, digest: string) =>
    sealer.verifies(purpose, '', data, Buffer.from(digest, 'base64url'));
  return {
    sign: (data: string) => sealer.mac(purpose, '', data).toString('base64url'),
    verify,
    // The index is also 0 for the previous key: otherwise the library signs the cookie anew, with the wrong path.
    index: (data: string, digest: string) => (verify(data, digest) ? 0 : -1),
  };
}

/**
 * The default prompts, and two more: account selection when a client requests it, and a sign-in when the signed-in user is not,
 * or no longer, a user of this app.
 */
function policy() {
  const prompts = interactionPolicy.base();
  prompts.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
  prompts
    .get('login')!
    .checks.add(
      new interactionPolicy.Check(
        'account_missing',
        'another account is needed',
        'login_required',
        ({ oidc }) => oidc.session?.accountId !== undefined && oidc.account === undefined,
      ),
    );
  return prompts;
}

/** Finds a user of the client's app who may sign in. */
async function findAccount({ oauthClients, knownUsers }: Deps, { oidc }: KoaContextWithOIDC, id: string) {
  const client = oidc.client && (await oauthClients.find(oidc.client.clientId));
  const user = client && (await knownUsers({ tenant: client.tenant, app: client.app, id }));
  if (!user || user.banned) return undefined;
  return { accountId: id, claims: (_use: string, scope: string) => claimsOf(user, scopesIn(scope)) };
}

/** A client may introspect the tokens of its app. */
async function isOfApp(
  { oauthClients }: Deps,
  asking: { readonly clientId: string },
  token: { readonly clientId?: string | undefined },
): Promise<boolean> {
  const [one, other] = [
    await oauthClients.find(asking.clientId),
    await oauthClients.find(token.clientId ?? ''),
  ];
  return one !== undefined && one.tenant === other?.tenant && one.app === other.app;
}
