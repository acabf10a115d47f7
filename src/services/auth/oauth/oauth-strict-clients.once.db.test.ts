import * as oauth4webapi from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { Browser, callback, fetchFrom, issuer, oauthTools } from '../testing/oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let user: User;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  user = await api.newUser({ name: 'Ada Lovelace' });
});
afterAll(() => server.close());

const secretOf = ({ client_secret }: IssuedClient) => client_secret!;
const loggedOut = 'https://reports.example.com/';

describe('openid-client', () => {
  it('completes discovery, code + PKCE, refresh, userinfo, introspection, revocation and logout', async () => {
    const client = await api.client({ post_logout_redirect_uris: [loggedOut] });
    const config = await openid.discovery(new URL(issuer), client.client_id, secretOf(client), undefined, {
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: fetchFrom(server),
    });
    const [verifier, state, nonce] = [
      openid.randomPKCECodeVerifier(),
      openid.randomState(),
      openid.randomNonce(),
    ];
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: callback,
      scope: 'openid profile email',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    const browser = new Browser(server);
    const back = await api.follow(browser, url.href, api.willing(user));
    const tokens = await openid.authorizationCodeGrant(config, back, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: client.client_id, name: 'Ada Lovelace' });

    const next = await openid.refreshTokenGrant(config, tokens.refresh_token!);
    expect(next.claims()?.sub).toBe(user.id);
    expect(await openid.fetchUserInfo(config, next.access_token, user.id)).toMatchObject({
      email: user.email,
    });
    expect(await openid.tokenIntrospection(config, next.access_token)).toMatchObject({
      active: true,
      sub: user.id,
    });
    await openid.tokenRevocation(config, next.access_token);
    expect(await openid.tokenIntrospection(config, next.access_token)).toEqual({ active: false });

    const end = openid.buildEndSessionUrl(config, {
      id_token_hint: next.id_token!,
      post_logout_redirect_uri: loggedOut,
      state,
    });
    const asked = await browser.open(end.href);
    expect(asked.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://reports.example.com",
    );
    const page = await asked.text();
    const [, xsrf] = /name="xsrf" value="(\w+)"/.exec(page)!;
    const away = await browser.open(`${issuer}/oauth2/logout/confirm`, { xsrf: xsrf!, logout: 'yes' });
    expect([away.status, away.headers.get('location')]).toEqual([303, `${loggedOut}?state=${state}`]);
  });

  it('pushes an authorization request', async () => {
    const client = await api.client();
    const config = await openid.discovery(new URL(issuer), client.client_id, secretOf(client), undefined, {
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: fetchFrom(server),
    });
    const verifier = openid.randomPKCECodeVerifier();
    const url = await openid.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: callback,
      scope: 'openid',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const back = await api.follow(new Browser(server), url.href, api.willing(user));
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier });
    expect(tokens.scope).toBe('openid');
  });
});

describe('oauth4webapi', () => {
  const options = () => ({
    [oauth4webapi.allowInsecureRequests]: true,
    [oauth4webapi.customFetch]: fetchFrom(server),
  });

  it.each(['oidc', 'oauth2'] as const)('finds the provider by %s', async (algorithm) => {
    const url = new URL(issuer);
    // If the issuer has a path, OAuth 2.0 asks at the root of the server (RFC 8414), OpenID Connect below the issuer.
    const response = await oauth4webapi.discoveryRequest(url, { algorithm, ...options() });
    const metadata = await oauth4webapi.processDiscoveryResponse(url, response);
    expect(metadata).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/oauth2/authorize`,
      token_endpoint: `${issuer}/oauth2/token`,
      userinfo_endpoint: `${issuer}/oauth2/userinfo`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      introspection_endpoint: `${issuer}/oauth2/introspect`,
      revocation_endpoint: `${issuer}/oauth2/revoke`,
      pushed_authorization_request_endpoint: `${issuer}/oauth2/par`,
      end_session_endpoint: `${issuer}/oauth2/logout`,
      scopes_supported: ['openid', 'profile', 'email', 'phone', 'offline_access'],
      response_types_supported: ['code'],
      response_modes_supported: ['form_post', 'fragment', 'query'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      acr_values_supported: ['urn:plinth:acr:1fa', 'urn:plinth:acr:2fa'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
        'none',
      ],
      token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'Ed25519', 'EdDSA'],
      dpop_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    expect([...metadata.grant_types_supported!].sort()).toEqual([
      'authorization_code',
      'client_credentials',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ]);
  });

  it('completes code + PKCE for a public client, with a token that verifies by the key set', async () => {
    const { client_id } = await api.client({ public: true, redirect_uris: ['http://127.0.0.1/callback'] });
    const url = new URL(issuer);
    const as = await oauth4webapi.processDiscoveryResponse(
      url,
      await oauth4webapi.discoveryRequest(url, { algorithm: 'oidc', ...options() }),
    );
    const client: oauth4webapi.Client = { client_id };
    const verifier = oauth4webapi.generateRandomCodeVerifier();
    // Programs on devices listen on any free port (RFC 8252).
    const redirect_uri = 'http://127.0.0.1:50123/callback';
    const to = await api.follow(
      new Browser(server),
      api.authorizeUrl(
        { client_id },
        {
          redirect_uri,
          scope: 'openid',
          code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        },
      ),
      api.willing(user),
    );
    const parameters = oauth4webapi.validateAuthResponse(as, client, to);
    const response = await oauth4webapi.authorizationCodeGrantRequest(
      as,
      client,
      oauth4webapi.None(),
      parameters,
      redirect_uri,
      verifier,
      options(),
    );
    const tokens = await oauth4webapi.processAuthorizationCodeResponse(as, client, response, {
      requireIdToken: true,
    });
    expect(oauth4webapi.getValidatedIdTokenClaims(tokens)?.sub).toBe(user.id);
    await oauth4webapi.validateApplicationLevelSignature(as, response, options());
    const request = new Request(`${issuer}/resource`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await oauth4webapi.validateJwtAccessToken(as, request, 'urn:plinth:api', options())).toMatchObject(
      { sub: user.id, client_id, scope: 'openid' },
    );
  });

  it.each([
    ['client_secret_basic', oauth4webapi.ClientSecretBasic],
    ['client_secret_post', oauth4webapi.ClientSecretPost],
  ])('gets a token for itself by %s', async (_, authentication) => {
    const own = await api.client({
      redirect_uris: [],
      grant_types: ['client_credentials'],
      scopes: ['retrieval:read'],
    });
    const url = new URL(issuer);
    const as = await oauth4webapi.processDiscoveryResponse(
      url,
      await oauth4webapi.discoveryRequest(url, { algorithm: 'oidc', ...options() }),
    );
    const client: oauth4webapi.Client = { client_id: own.client_id };
    const response = await oauth4webapi.clientCredentialsGrantRequest(
      as,
      client,
      authentication(secretOf(own)),
      {},
      options(),
    );
    expect(await oauth4webapi.processClientCredentialsResponse(as, client, response)).toMatchObject({
      scope: 'retrieval:read',
      token_type: 'bearer',
    });
  });
});
