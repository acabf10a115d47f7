/** Clients that authenticate by their own JWTs (private_key_jwt), tested with third-party clients. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oauth4webapi from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client, IssuedClient } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { Browser, callback, fetchFrom, issuer, oauthTools } from '../testing/oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let keys: { publicKey: CryptoKey; privateKey: CryptoKey };
let jwk: JWK;
let client: IssuedClient;

const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const own = { token_endpoint_auth_method: 'private_key_jwt', grant_types: ['client_credentials'] };
const machine = { ...own, redirect_uris: [], scopes: ['own:read'] };

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  keys = await generateKeyPair('ES256', { extractable: true });
  jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256' };
  client = await api.client({ ...machine, jwks: { keys: [jwk] } });
});
afterAll(() => server.close());

/** Signs an assertion as the client. */
function assertion(
  claims: Record<string, unknown> = {},
  header: Record<string, string> = {},
  key = keys.privateKey,
) {
  const now = Math.floor(Date.now() / 1_000);
  const usual = {
    iss: client.id,
    sub: client.id,
    aud: issuer,
    jti: crypto.randomUUID(),
    iat: now,
    exp: now + 60,
  };
  return new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
    .sign(key);
}
const token = async (signed: string | Promise<string>, more: Record<string, string> = {}) =>
  api.post('/oauth2/token', {
    grant_type: 'client_credentials',
    client_assertion_type: type,
    client_assertion: await signed,
    ...more,
  });
const invalid = [401, { error: 'invalid_client', code: 'UNAUTHORIZED' }];

describe('a client with keys of its own', () => {
  it('has no secret, and shows its public keys', async () => {
    expect(client).toMatchObject({ ...own, client_secret: null, jwks: { keys: [jwk] }, jwks_uri: null });
    const rotated = await api.refusal('POST', `/oauth2/clients/${client.id}/rotate-secret`);
    expect(rotated).toEqual([409, 'a client with keys of its own has no secret']);
  });

  it('that had a secret before has none any more, and gets one again', async () => {
    const before = await api.client({ ...machine, token_endpoint_auth_method: 'client_secret_basic' });
    const basic = { grant_type: 'client_credentials' };
    expect((await api.post('/oauth2/token', basic, before)).status).toBe(200);
    const path = `/oauth2/clients/${before.id}`;
    const keyed = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } };
    expect(await api.send('PATCH', path, { body: keyed })).toMatchObject(keyed);
    const refused = await api.post('/oauth2/token', basic, before);
    expect([refused.status, refused.body]).toMatchObject(invalid);
    const signed = assertion({ iss: before.id, sub: before.id });
    expect((await token(signed)).status).toBe(200);
    await api.send('PATCH', path, { body: { token_endpoint_auth_method: 'client_secret_post', jwks: null } });
    expect((await api.post('/oauth2/token', basic, before)).status).toBe(401);
    const next = (await api.send('POST', `${path}/rotate-secret`)) as IssuedClient;
    expect((await api.post('/oauth2/token', basic, next)).status).toBe(200);
    expect((await token(assertion({ iss: before.id, sub: before.id }))).status).toBe(401);
  });

  it('cannot be made with what is no public key', async () => {
    const { d } = await exportJWK(keys.privateKey);
    for (const [body, problem] of [
      [{ ...machine, jwks: { keys: [{ ...jwk, d }] } }, 'jwks.keys[0].d: send public keys only'],
      [machine, 'jwks: private_key_jwt needs it, or jwks_uri'],
      [{ ...machine, jwks_uri: 'https://user:pass@reports.example.com/' }, /^jwks_uri: /],
    ] as const) {
      const answer = await api.refusal('POST', '/oauth2/clients', { body: { name: 'Keys', ...body } });
      expect(answer).toEqual([400, typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
    }
  });
});

describe('an assertion', () => {
  it('is good once, of two at once as well, with whatever grant', async () => {
    const signed = await assertion();
    expect((await token(signed)).status).toBe(200);
    const again = await token(signed);
    expect([again.status, again.body]).toMatchObject(invalid);
    const raced = await assertion();
    const answers = await Promise.all(Array.from({ length: 10 }, () => token(raced)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>]>([
    ['of another provider', { aud: 'https://accounts.example.com' }],
    ['that is over', { exp: Math.floor(Date.now() / 1_000) - 60 }],
    ['that never ends', { exp: 1e308 }],
    ['that ends too late', { exp: Math.floor(Date.now() / 1_000) + 7_200 }],
    ['without an end', { exp: undefined }],
    ['without an id', { jti: undefined }],
    ['with an id that is no text', { jti: { toString: 1 } }],
    ['that somebody else issued', { iss: 'client_01m7w6qgepfq9s8vanppxya299' }],
    [
      'of a client that is none',
      { iss: 'client_01m7w6qgepfq9s8vanppxya299', sub: 'client_01m7w6qgepfq9s8vanppxya299' },
    ],
  ])('%s is refused', async (_, claims) => {
    const { status, body } = await token(assertion(claims));
    expect([status, body]).toMatchObject(invalid);
  });

  it('by another key, by none, or beside another proof is refused', async () => {
    const other = await generateKeyPair('ES256');
    expect((await token(assertion({}, {}, other.privateKey))).status).toBe(401);
    expect((await token(assertion({}, { kid: 'two' }))).status).toBe(401);
    const [, payload] = (await assertion()).split('.');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    expect((await token(none)).status).toBe(401);
    for (const garbage of ['x', 'a.b.c', '..']) expect((await token(garbage)).status).toBeOneOf([400, 401]);
    const secret = await api.client();
    const both = await token(assertion({ iss: secret.id, sub: secret.id }), {
      client_secret: secret.client_secret!,
    });
    expect(both.status).toBe(400);
    // A client with a secret has no key to sign with.
    expect((await token(assertion({ iss: secret.id, sub: secret.id }))).status).toBe(401);
  });

  it('authenticates at the other endpoints, too', async () => {
    const form = async () => ({ client_assertion_type: type, client_assertion: await assertion() });
    const { access_token } = (await token(assertion())).body as { access_token: string };
    const asked = { token: access_token, ...(await form()) };
    expect((await api.post('/oauth2/introspect', asked)).body).toMatchObject({
      active: true,
      sub: client.id,
    });
    expect((await api.post('/oauth2/introspect', asked)).status).toBe(401);
    const website = await api.client({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
      grant_types: ['authorization_code'],
    });
    const pushed = await api.post('/oauth2/par', {
      client_assertion_type: type,
      client_assertion: await assertion({ iss: website.id, sub: website.id }),
      response_type: 'code',
      redirect_uri: callback,
    });
    expect(pushed.status).toBe(201);

    const browser = new Browser(server);
    const user = await api.newUser();
    const said = async (signed: Record<string, string>) => {
      const code = await api.code(website, user, {}, browser);
      const exchanged = await token(assertion({ iss: website.id, sub: website.id }), {
        grant_type: 'authorization_code',
        code,
        redirect_uri: callback,
      });
      const { access_token: sent } = exchanged.body as { access_token: string };
      expect((await api.post('/oauth2/revoke', { token: sent, ...signed })).status).toBe(200);
      expect((await api.userinfo(sent)).status).toBe(401);
      const [event] = await server.db.sql<{ by: boolean }[]>`
        select data -> 'client_authenticated' as by from auth.outbox
        where type = 'auth.consent.revoked' and subject = ${website.id} order by seq desc limit 1`;
      return event!.by;
    };
    const signed = await assertion({ iss: website.id, sub: website.id });
    expect(await said({ client_assertion_type: type, client_assertion: signed })).toBe(true);
    expect(await said({ client_assertion_type: type, client_assertion: signed })).toBe(false);
    expect(await said({})).toBe(false);
  });
});

describe('openid-client', () => {
  it('signs a user in with a key of its own, at the key’s address', async () => {
    let published = [jwk];
    const home: Server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: published }));
    });
    await new Promise<void>((resolve) => home.listen(0, '127.0.0.1', resolve));
    try {
      const jwks_uri = `http://127.0.0.1:${(home.address() as AddressInfo).port}/jwks`;
      const user = await api.newUser({ name: 'Ada' });
      const website = await api.client({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
      const key = { key: keys.privateKey, kid: 'one' };
      const config = await openid.discovery(
        new URL(issuer),
        website.client_id,
        undefined,
        openid.PrivateKeyJwt(key),
        { execute: [openid.allowInsecureRequests], [openid.customFetch]: fetchFrom(server) },
      );
      expect(config.serverMetadata().token_endpoint_auth_methods_supported).toContain('private_key_jwt');
      const verifier = openid.randomPKCECodeVerifier();
      const url = await openid.buildAuthorizationUrlWithPAR(config, {
        redirect_uri: callback,
        scope: 'openid profile',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const back = await api.follow(new Browser(server), url.href, api.willing(user));
      const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier });
      expect(tokens.claims()?.sub).toBe(user.id);
      const next = await openid.refreshTokenGrant(config, tokens.refresh_token!);
      expect(await openid.tokenIntrospection(config, next.access_token)).toMatchObject({ active: true });
      // Another client whose URL returns nonsense is refused, without a server error.
      published = [];
      const lost = (await api.client({ ...machine, jwks_uri: `${jwks_uri}?2` })) as Client;
      const refused = await token(assertion({ iss: lost.id, sub: lost.id }));
      expect([refused.status, refused.body]).toMatchObject(invalid);
      await new Promise((resolve) => home.close(resolve));
      const gone = (await api.client({ ...machine, jwks_uri: `${jwks_uri}?3` })) as Client;
      const away = await token(assertion({ iss: gone.id, sub: gone.id }));
      expect(away.status).toBeOneOf([400, 401]);
    } finally {
      home.close();
    }
  });
});

describe('oauth4webapi', () => {
  it('gets a token for itself with a key of its own', async () => {
    const options = {
      [oauth4webapi.allowInsecureRequests]: true,
      [oauth4webapi.customFetch]: fetchFrom(server),
    };
    const url = new URL(issuer);
    const as = await oauth4webapi.processDiscoveryResponse(
      url,
      await oauth4webapi.discoveryRequest(url, { algorithm: 'oauth2', ...options }),
    );
    const authentication = oauth4webapi.PrivateKeyJwt({ key: keys.privateKey, kid: 'one' });
    const asking = { client_id: client.client_id };
    const response = await oauth4webapi.clientCredentialsGrantRequest(
      as,
      asking,
      authentication,
      {},
      options,
    );
    expect(await oauth4webapi.processClientCredentialsResponse(as, asking, response)).toMatchObject({
      scope: 'own:read',
    });
  });
});
