import * as oauth4webapi from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../../testing/server.ts';
import { Browser, callback, fetchFrom, issuer, oauthTools } from '../../testing/oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let machine: IssuedClient;
let user: User;

const { origin } = new URL(issuer);
const roles = '/auth/v1/auth/roles';

beforeAll(async () => {
  server = await testServer({ services: ['auth', 'authz'] });
  api = oauthTools(server);
  user = await api.newUser({ name: 'Ada' });
  machine = await api.client({
    redirect_uris: [],
    grant_types: ['client_credentials'],
    scopes: ['auth:read', 'authz:read'],
  });
});
afterAll(() => server.close());

describe('openid-client', () => {
  it('signs a user in with tokens that are bound to its key', async () => {
    const client = await api.client({ dpop_bound_access_tokens: true });
    const config = await openid.discovery(
      new URL(issuer),
      client.client_id,
      client.client_secret!,
      undefined,
      {
        execute: [openid.allowInsecureRequests],
        [openid.customFetch]: fetchFrom(server),
      },
    );
    expect(config.serverMetadata().dpop_signing_alg_values_supported).toContain('ES256');
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    const verifier = openid.randomPKCECodeVerifier();
    const url = await openid.buildAuthorizationUrlWithPAR(
      config,
      {
        redirect_uri: callback,
        scope: 'openid profile email',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      },
      { DPoP },
    );
    const back = await api.follow(new Browser(server), url.href, api.willing(user));
    const tokens = await openid.authorizationCodeGrant(
      config,
      back,
      { pkceCodeVerifier: verifier },
      undefined,
      {
        DPoP,
      },
    );
    expect(tokens.token_type).toBe('dpop');
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token!, undefined, { DPoP });
    const claims = await openid.fetchUserInfo(config, next.access_token, user.id, { DPoP });
    expect(claims).toMatchObject({ sub: user.id, email: user.email });
    // Without its proof the token is invalid, whichever way it is sent.
    const bearer = await api.userinfo(next.access_token);
    expect([bearer.status, bearer.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer error="invalid_token"',
    ]);
    expect((await api.post('/oauth2/userinfo', { access_token: next.access_token })).status).toBe(401);
    const headers = { authorization: `DPoP ${next.access_token}` };
    const unproven = await api.request(`${issuer}/oauth2/userinfo`, { headers });
    expect([unproven.status, unproven.headers.get('www-authenticate')]).toEqual([
      401,
      'DPoP error="invalid_token", algs="ES256 Ed25519 EdDSA"',
    ]);
  });
});

describe('oauth4webapi', () => {
  it('asks the platform with a token that is bound to its key', async () => {
    const options = {
      [oauth4webapi.allowInsecureRequests]: true,
      [oauth4webapi.customFetch]: fetchFrom(server),
    };
    const url = new URL(issuer);
    const as = await oauth4webapi.processDiscoveryResponse(
      url,
      await oauth4webapi.discoveryRequest(url, { algorithm: 'oidc', ...options }),
    );
    const client: oauth4webapi.Client = { client_id: machine.client_id };
    const DPoP = oauth4webapi.DPoP(client, await oauth4webapi.generateKeyPair('Ed25519'));
    const response = await oauth4webapi.clientCredentialsGrantRequest(
      as,
      client,
      oauth4webapi.ClientSecretBasic(machine.client_secret!),
      {},
      { DPoP, ...options },
    );
    const tokens = await oauth4webapi.processClientCredentialsResponse(as, client, response);
    expect(tokens.token_type).toBe('dpop');
    const answer = await oauth4webapi.protectedResourceRequest(
      tokens.access_token,
      'GET',
      new URL(`${origin}${roles}?limit=1`),
      undefined,
      undefined,
      { DPoP, ...options },
    );
    expect(answer.status).toBe(200);
  });
});
