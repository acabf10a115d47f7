import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { IssuedClient, User } from '../../../generated/auth/types.ts';
import { childServer, masterKey, testServer, type TestServer } from '../../testing/server.ts';
import { otherApp } from './testing.ts';
import { adminTools } from './testing-admin.ts';
import { Browser, issuer, oauthTools } from './testing-oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let admin: ReturnType<typeof adminTools>;
let client: IssuedClient;
let user: User;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  admin = adminTools(server);
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

describe('an access token', () => {
  it('is a JWT that says for whom, of whom and by what it is', async () => {
    const { access_token } = await api.tokens(client, user);
    expect(decodeProtectedHeader(access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const claims = decodeJwt(access_token);
    const [session] = await server.db.sql<{ id: string }[]>`
      select id from auth.sessions where kind = 'hosted' and user_id = ${user.id} order by created_at desc limit 1`;
    expect(claims).toEqual({
      iss: issuer,
      aud: 'urn:plinth:api',
      sub: user.id,
      client_id: client.client_id,
      scope: 'openid profile email',
      tenant_id: 'default',
      app_id: 'default',
      sid: session!.id,
      gid: expect.any(String) as string,
      jti: expect.any(String) as string,
      iat: expect.any(Number) as number,
      exp: claims.iat! + 3600,
      iat_ms: expect.any(Number) as number,
    });
    expect(Math.abs((claims['iat_ms'] as number) - claims.iat! * 1000)).toBeLessThan(5_000);
  });

  it('of a client that acts for itself is about the client, with what it may have without a user', async () => {
    const own = await itself({ access_token_ttl: 60, scopes: ['openid', 'own:read', 'retrieval:read'] });
    const { status, body } = await credentials(own);
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String) as string,
        token_type: 'Bearer',
        expires_in: 60,
        scope: 'own:read retrieval:read',
      },
    ]);
    const claims = decodeJwt((body as { access_token: string }).access_token);
    expect(claims).toMatchObject({ sub: own.client_id, client_id: own.client_id, app_id: 'default' });
    expect([claims['gid'], claims['sid']]).toEqual([undefined, undefined]);
    const told = await credentials(own, { scope: 'retrieval:read foreign:write' });
    expect(told.body).toMatchObject({ scope: 'retrieval:read' });
    expect((await credentials(own, { scope: 'openid' })).body).toMatchObject({ error: 'invalid_scope' });
    expect((await credentials(client)).body).toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('is for a resource server that the client names and may have', async () => {
    const own = await itself({ audiences: ['urn:example:orders'] });
    const { body } = await credentials(own, { resource: 'urn:example:orders' });
    const token = (body as { access_token: string }).access_token;
    expect(decodeJwt(token).aud).toBe('urn:example:orders');
    expect((await server.request('GET', '/auth/v1/auth/roles', { token })).status).toBe(401);
    expect((await api.introspect(client, token)).body).toMatchObject({
      active: true,
      aud: 'urn:example:orders',
    });
    expect((await credentials(own, { resource: 'urn:example:other' })).body).toMatchObject({
      error: 'invalid_target',
    });
  });

  it('holds of what guards the platform only what the user holds', async () => {
    const scopes = ['openid', 'own:thing', 'auth:read', 'retrieval:read'];
    const wide = await api.client({ scopes });
    const reader = await api.newUser();
    expect((await api.tokens(wide, reader)).scope).toBe('openid own:thing');
    const role = await admin.give(reader, {}, ['auth:read']);
    const tokens = await api.tokens(wide, reader);
    expect(tokens.scope).toBe('openid own:thing auth:read');
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: reader.id } });
    const { body } = await api.refresh(wide, tokens.refresh_token);
    expect(body).toMatchObject({ scope: 'openid own:thing' });
  });

  it.each([
    ['a wrong secret', { client_secret: 'sec_wrong' }],
    ['another client’s secret', { client_id: 'client_01m7w6qgepfq9s8vanppxya2w6' }],
  ])('is not given for %s', async (_, wrong) => {
    const own = await itself();
    const { status, body, headers } = await credentials({ ...own, ...wrong });
    expect([status, body]).toMatchObject([401, { error: 'invalid_client', code: 'UNAUTHORIZED' }]);
    expect(headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  it('is given for the secret of before until its grace is over', async () => {
    const own = await itself();
    const next = (await api.send('POST', `/oauth2/clients/${own.id}/rotate-secret`)) as IssuedClient;
    expect((await credentials(own)).status).toBe(200);
    expect((await credentials(next)).status).toBe(200);
    await api.send('POST', `/oauth2/clients/${own.id}/rotate-secret`, { body: { grace_period: '0s' } });
    expect((await credentials(next)).status).toBe(401);
  });
});

describe('a refresh token', () => {
  it('is replaced; one that was used ends the grant when it comes again later', async () => {
    const tokens = await api.tokens(client, user);
    const next = await api.refresh(client, tokens.refresh_token);
    expect([next.status, next.body]).toMatchObject([200, { scope: 'openid profile email' }]);
    const { refresh_token, access_token } = next.body as { refresh_token: string; access_token: string };
    expect(refresh_token).not.toBe(tokens.refresh_token);
    const invalid = [400, { error: 'invalid_grant' }];
    const raced = await api.refresh(client, tokens.refresh_token);
    expect([raced.status, raced.body]).toMatchObject(invalid);
    expect((await api.userinfo(access_token)).status).toBe(200);
    await server.db.sql`
      update auth.oidc set consumed_at = consumed_at - interval '11 seconds' where consumed_at is not null`;
    const copied = await api.refresh(client, tokens.refresh_token);
    expect([copied.status, copied.body]).toMatchObject(invalid);
    expect(await refused(access_token)).toEqual(everywhere);
    expect((await api.refresh(client, refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('is used once, however many come at once', async () => {
    const { refresh_token } = await api.tokens(client, user);
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.refresh(client, refresh_token)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    const { access_token } = good[0]!.body as { access_token: string };
    expect((await api.userinfo(access_token)).status).toBe(200);
  });

  it('gives less where less is asked, never more', async () => {
    const { refresh_token } = await api.tokens(client, user, { scope: 'openid email' });
    const more = await api.refresh(client, refresh_token, { scope: 'openid email profile' });
    expect(more.body).toMatchObject({ error: 'invalid_scope' });
    const less = await api.refresh(client, refresh_token, { scope: 'openid' });
    expect(less.body).toMatchObject({ scope: 'openid' });
  });

  it('ends with the browser’s session, unless the user allowed it offline', async () => {
    const offline = await api.client({ scopes: ['openid', 'offline_access'] });
    const someone = await api.newUser();
    const browser = new Browser(server);
    const bound = await api.tokens(client, someone, {}, browser);
    const kept = await api.tokens(
      offline,
      someone,
      { scope: 'openid offline_access', prompt: 'consent' },
      browser,
    );
    expect(decodeJwt(kept.access_token)['sid']).toBeUndefined();
    const sid = decodeJwt(bound.access_token)['sid'] as string;
    const { token } = { token: await sessionToken(someone) };
    await api.send('DELETE', `/sessions/${sid}`, { token });
    expect(await refused(bound.access_token)).toEqual(everywhere);
    expect((await api.refresh(client, bound.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await api.refresh(offline, kept.refresh_token)).status).toBe(200);
    // The browser has to sign in again.
    const to = await browser.open(api.authorizeUrl(client, { prompt: 'none' }));
    expect(to.headers.get('location')).toContain('error=login_required');
  });
});

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
    const nothing = await api.post('/oauth2/userinfo', {});
    expect([nothing.status, nothing.body]).toMatchObject([
      401,
      { error: 'invalid_token', code: 'UNAUTHORIZED' },
    ]);
    expect(nothing.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('a rotation of the keys', () => {
  it('signs with the next ones without a restart, and what was signed before still holds', async () => {
    const before = await api.tokens(client, user);
    await api.send('POST', '/signing-keys/rotate');
    const after = await api.tokens(client, user);
    for (const token of ['access_token', 'id_token'] as const)
      expect(decodeProtectedHeader(after[token]!).kid).not.toBe(decodeProtectedHeader(before[token]!).kid);
    for (const { access_token } of [before, after])
      expect((await api.userinfo(access_token)).status).toBe(200);
    expect((await api.refresh(client, before.refresh_token)).status).toBe(200);
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

/** The token of an ordinary session of the user. */
const sessionToken = async (someone: User) => (await admin.signIn(someone)).session_token;
