import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { childServer, masterKey, testServer, type TestServer } from '../../../testing/server.ts';
import { otherApp } from '../testing/index.ts';
import { issuer, oauthTools } from '../testing/oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let client: IssuedClient;
let user: User;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  client = await api.client();
  user = await api.newUser({ name: 'Ada', username: `ada${Date.now()}` });
});
afterAll(() => server.close());

const itself = (body: object = {}) =>
  api.client({
    redirect_uris: [],
    grant_types: ['client_credentials'],
    scopes: ['own:read', 'retrieval:read'],
    ...body,
  });
const credentials = (of: IssuedClient, more: Record<string, string> = {}) =>
  api.post('/oauth2/token', { grant_type: 'client_credentials', ...more }, of);
const inactive = { active: false };
const refused = async (token: string) => [
  (await api.introspect(client, token)).body,
  (await api.userinfo(token)).status,
  (await server.request('GET', '/auth/v1/auth/roles', { token })).status,
];
const everywhere = [inactive, 401, 401];

describe('introspection', () => {
  it('tells the clients of the app, and nobody else', async () => {
    const { access_token, refresh_token } = await api.tokens(client, user);
    const { iat, exp } = decodeJwt(access_token);
    const another = await api.client();
    for (const asking of [client, another]) {
      const { status, body, headers } = await api.introspect(asking, access_token);
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(body).toMatchObject({
        active: true,
        sub: user.id,
        client_id: client.client_id,
        scope: 'openid profile email',
        iat,
        exp,
        iss: issuer,
        aud: 'urn:plinth:api',
        token_type: 'Bearer',
      });
    }
    expect((await api.introspect(client, refresh_token)).body).toMatchObject({ active: true, sub: user.id });
    const place = await otherApp(server);
    const stranger = await api.client({}, { tenant: place.tenant, headers: { 'X-App-ID': place.id } });
    expect((await api.introspect(stranger, access_token)).body).toEqual(inactive);
    expect((await api.introspect(stranger, refresh_token)).body).toEqual(inactive);
  });

  it('knows nothing of what is no token, not even of the id of one', async () => {
    const { access_token } = await api.tokens(client, user);
    const jti = decodeJwt(access_token).jti!;
    for (const token of [jti, `jwt:${jti}`, 'x', 'a.b.c', `${access_token}x`, '-'])
      expect((await api.introspect(client, token)).body).toEqual(inactive);
  });

  it('needs a client with a secret', async () => {
    const open = await api.client({ public: true });
    for (const answer of [
      await api.post('/oauth2/introspect', { token: 'x' }),
      await api.post('/oauth2/introspect', { token: 'x', client_id: client.client_id }),
      await api.post('/oauth2/introspect', { token: 'x', client_id: open.client_id }),
      await api.post('/oauth2/introspect', { token: 'x', client_id: open.client_id, client_secret: 'x' }),
      await api.post('/oauth2/introspect', { token: 'x' }, { ...client, client_secret: 'sec_wrong' }),
    ]) {
      expect([answer.status, answer.body]).toMatchObject([
        401,
        { error: 'invalid_client', code: 'UNAUTHORIZED' },
      ]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
    }
  });
});

describe('a revocation', () => {
  const revoke = async (form: Record<string, string>, basic?: IssuedClient) =>
    (await api.post('/oauth2/revoke', form, basic)).status;

  it('is always 200, and afterwards the token and the rest of its grant are refused', async () => {
    const foreign = await api.client();
    for (const [name, by] of [
      ['access_token', () => ({})],
      ['refresh_token', () => ({})],
      ['access_token', () => ({ client_id: foreign.client_id, client_secret: foreign.client_secret! })],
      ['refresh_token', () => ({ client_id: client.client_id, client_secret: 'sec_wrong' })],
      ['access_token', () => ({ client_id: client.client_id, client_secret: client.client_secret! })],
    ] as const) {
      const tokens = await api.tokens(client, user);
      expect(await revoke({ token: tokens[name], ...by() })).toBe(200);
      expect(await refused(tokens.access_token)).toEqual(everywhere);
      expect((await api.refresh(client, tokens.refresh_token)).body).toMatchObject({
        error: 'invalid_grant',
      });
      expect((await api.introspect(client, tokens.refresh_token)).body).toEqual(inactive);
    }
    const told = await server.db.sql<{ by: boolean }[]>`
      select data -> 'client_authenticated' as by from auth.outbox
      where type = 'auth.consent.revoked' and subject = ${client.id} order by seq`;
    expect(told.map(({ by }) => by)).toEqual([false, false, false, false, true]);
  });

  it('ends the token of a client that acts for itself', async () => {
    const own = await itself({ scopes: ['auth:read'] });
    const { access_token: token } = (await credentials(own)).body as { access_token: string };
    expect((await server.request('GET', '/auth/v1/auth/roles', { token })).status).toBe(200);
    expect(await revoke({ token })).toBe(200);
    expect(await refused(token)).toEqual(everywhere);
  });

  it('takes whatever is sent', async () => {
    expect(await revoke({ token: 'garbage', token_type_hint: 'nonsense' })).toBe(200);
    expect(await revoke({})).toBe(200);
    for (const [type, body] of [
      ['application/json', '{'],
      ['application/json', '{"token":1}'],
      ['text/plain', 'token=x'],
      ['application/x-www-form-urlencoded', 'token=a&token=b'],
      ['application/x-www-form-urlencoded', 'token=%'],
    ] as const) {
      const sent = { method: 'POST', headers: { 'content-type': type }, body };
      expect((await api.request(`${issuer}/oauth2/revoke`, sent)).status).toBe(200);
    }
    const { access_token } = await api.tokens(client, user);
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify({ token: access_token });
    expect((await api.request(`${issuer}/oauth2/revoke`, { ...json, body })).status).toBe(200);
    expect(await refused(access_token)).toEqual(everywhere);
  });
});

describe('userinfo', () => {
  it('answers what the scopes open, for a token in the header or the form', async () => {
    const { access_token } = await api.tokens(client, user, { scope: 'openid email' });
    const claims = { sub: user.id, email: user.email, email_verified: false };
    expect(await (await api.userinfo(access_token)).json()).toEqual(claims);
    expect((await api.post('/oauth2/userinfo', { access_token })).body).toEqual(claims);
    const whole = await api.tokens(client, user);
    expect(await (await api.userinfo(whole.access_token)).json()).toMatchObject({
      ...claims,
      name: 'Ada',
      preferred_username: user.username,
      updated_at: Math.floor(Date.parse(user.updated_at) / 1000),
    });
  });

  it('takes a token for whatever resource server, with openid', async () => {
    const other = await api.client({ audiences: ['urn:example:orders'], scopes: ['openid', 'own:read'] });
    const resource = 'urn:example:orders';
    const { access_token } = await api.tokens(other, user, { resource });
    expect(decodeJwt(access_token).aud).toBe(resource);
    expect(await (await api.userinfo(access_token)).json()).toEqual({ sub: user.id });
    const without = await api.tokens(other, user, { scope: 'own:read' });
    const answer = await api.userinfo(without.access_token);
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { error: 'insufficient_scope', code: 'FORBIDDEN', reason: 'insufficient_scope' },
    ]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="openid"');
    const expired = await api.userinfo('x');
    expect([expired.status, expired.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer error="invalid_token"',
    ]);
    const nothing = await api.post('/oauth2/userinfo', {});
    expect([nothing.status, nothing.body]).toMatchObject([
      401,
      { error: 'invalid_token', code: 'UNAUTHORIZED' },
    ]);
    // A request without credentials gets the challenge, but no error code.
    expect(nothing.headers.get('www-authenticate')).toMatch(/^Bearer, DPoP algs=/);
  });
});

describe('what ends a user’s or a client’s rights', () => {
  it.each([
    ['a ban', () => api.send('POST', `/users/${user.id}/ban`, { body: { reason: 'test' } })],
    ['the deletion of the client', () => api.send('DELETE', `/oauth2/clients/${client.id}`)],
  ])('ends their tokens at once: %s', async (_, end) => {
    [client, user] = [await api.client(), await api.newUser()];
    const observer = await api.client();
    const { access_token, refresh_token } = await api.tokens(client, user);
    await end();
    expect((await api.introspect(observer, access_token)).body).toEqual(inactive);
    expect((await api.userinfo(access_token)).status).toBe(401);
    expect((await api.refresh(client, refresh_token)).status).toBeGreaterThanOrEqual(400);
    [client, user] = [observer, await api.newUser()];
  });
});

describe.runIf(inject('engine') === 'postgres')('another process', () => {
  it('takes the tokens of this one, and refuses what this one revoked', async () => {
    const child = await childServer({
      services: ['auth'],
      env: {
        DATABASE_URL: server.db.options.url!,
        PLINTH_DATA_DIR: server.db.options.dataDir,
        PLINTH_MASTER_KEY: masterKey.toString('base64'),
        PLINTH_AUTH_ISSUER: issuer,
      },
    });
    try {
      const ask = (token: string) =>
        child.request('GET', '/v1/auth/oauth2/userinfo', { token }).then(({ status }) => status);
      const { access_token } = await api.tokens(client, user);
      expect(await ask(access_token)).toBe(200);
      await api.post('/oauth2/revoke', { token: access_token });
      await expect.poll(() => ask(access_token), { timeout: 1_500, interval: 5 }).toBe(401);
    } finally {
      await child.kill();
    }
  });
});
