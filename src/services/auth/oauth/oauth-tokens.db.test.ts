import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools } from '../testing/admin.ts';
import { Browser, issuer, oauthTools } from '../testing/oauth.ts';

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
    expect((await credentials(client)).body).toMatchObject({
      error: 'unauthorized_client',
      code: 'BAD_REQUEST',
    });
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
  it('is replaced; one that was used ends the grant when it comes again, unless both come at the same moment', async () => {
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
      update auth.oidc set consumed_at = consumed_at - interval '2 seconds' where consumed_at is not null`;
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

/** The token of an ordinary session of the user. */
const sessionToken = async (someone: User) => (await admin.signIn(someone)).session_token;
