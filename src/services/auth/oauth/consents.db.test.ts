import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Consent, IssuedClient, Session } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools, type SignedIn } from '../testing/admin.ts';
import { Browser, issuer, oauthTools } from '../testing/oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let admin: ReturnType<typeof adminTools>;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  admin = adminTools(server);
});
afterAll(() => server.close());

const consentsOf = async ({ session_token: token }: SignedIn): Promise<Consent[]> =>
  ((await api.send('GET', '/me/consents', { token })) as { consents: Consent[] }).consents;
const takeBack = ({ session_token: token }: SignedIn, { id }: IssuedClient) =>
  api.send('DELETE', `/me/consents/${id}`, { token });
const sessionsOf = async ({ session_token: token }: SignedIn): Promise<Session[]> =>
  ((await api.send('GET', '/sessions', { token })) as { sessions: Session[] }).sessions;

describe('a consent', () => {
  it('is listed with what was allowed, newest first, and is part of the export', async () => {
    const someone = await admin.signedIn();
    const [first, second] = [await api.client({ name: 'First' }), await api.client({ name: 'Second' })];
    expect(await consentsOf(someone)).toEqual([]);
    await api.code(first, someone.user, { scope: 'openid' });
    await api.code(second, someone.user);
    const { access_token } = await api.tokens(first, someone.user, { scope: 'openid email' });
    expect(access_token).toBeDefined();
    const consents = await consentsOf(someone);
    expect(consents).toEqual([
      {
        client_id: first.id,
        client_name: 'First',
        scopes: ['email', 'openid'],
        granted_at: expect.any(String) as string,
        last_used_at: expect.any(String) as string,
      },
      {
        client_id: second.id,
        client_name: 'Second',
        scopes: ['email', 'openid', 'profile'],
        granted_at: expect.any(String) as string,
        last_used_at: null,
      },
    ]);
    const { session_token: token } = someone;
    expect(await api.send('GET', '/me/export', { token })).toMatchObject({ consents });
  });

  it('that is taken back ends all tokens at once and is asked for again', async () => {
    const someone = await admin.signedIn();
    const [client, other] = [await api.client(), await api.client()];
    const browser = new Browser(server);
    const [here, there] = [
      await api.tokens(client, someone.user, {}, browser),
      await api.tokens(client, someone.user),
    ];
    const kept = await api.tokens(other, someone.user);
    expect(await takeBack(someone, client)).toEqual({ status: 'revoked' });
    for (const { access_token, refresh_token } of [here, there]) {
      expect((await api.userinfo(access_token)).status).toBe(401);
      expect((await api.refresh(client, refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
      expect((await api.introspect(other, access_token)).body).toEqual({ active: false });
    }
    expect((await api.userinfo(kept.access_token)).status).toBe(200);
    expect((await consentsOf(someone)).map(({ client_id }) => client_id)).toEqual([other.id]);
    const asked = await browser.open(api.authorizeUrl(client, { prompt: 'none' }));
    expect(asked.headers.get('location')).toContain('error=consent_required');
  });

  it('that was not given cannot be taken back, nor somebody else’s', async () => {
    const [someone, other] = [await admin.signedIn(), await admin.signedIn()];
    const client = await api.client();
    await api.code(client, other.user);
    const { session_token: token } = someone;
    for (const id of [client.id, newId('client')])
      expect(await api.refusal('DELETE', `/me/consents/${id}`, { token })).toEqual([
        404,
        'consent not found',
      ]);
    expect(await consentsOf(other)).toHaveLength(1);
  });

  it('ends with the client and with the account', async () => {
    const someone = await admin.signedIn();
    const [client, other] = [await api.client(), await api.client()];
    await api.code(client, someone.user);
    await api.code(other, someone.user);
    await api.send('DELETE', `/oauth2/clients/${client.id}`);
    expect((await consentsOf(someone)).map(({ client_id }) => client_id)).toEqual([other.id]);
    await api.send('DELETE', '/me', { token: someone.session_token });
    expect(await server.db.sql`select from auth.oidc where user_id = ${someone.user.id}`).toEqual([]);
  });
});

describe('the session of a browser', () => {
  it('is one of the user’s sessions, and ending it signs the browser out', async () => {
    const someone = await admin.signedIn();
    const client = await api.client();
    const browser = new Browser(server);
    const { refresh_token } = await api.tokens(client, someone.user, {}, browser);
    const hosted = (await sessionsOf(someone)).find(({ kind }) => kind === 'hosted')!;
    expect(hosted).toMatchObject({ user_id: someone.user.id, ip_address: '127.0.0.1', current: false });
    expect(hosted.expires_at).toBe(hosted.refresh_expires_at);
    await api.send('POST', '/sessions/revoke-others', { token: someone.session_token });
    expect((await api.refresh(client, refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    const asked = await browser.open(api.authorizeUrl(client, { prompt: 'none' }));
    expect(asked.headers.get('location')).toContain('error=login_required');
  });

  it('is not brought back by a request that was on its way when it ended', async () => {
    const someone = await admin.signedIn();
    const client = await api.client();
    const browser = new Browser(server);
    await api.code(client, someone.user, {}, browser);
    const asking = Array.from({ length: 10 }, () => browser.open(api.authorizeUrl(client)));
    await api.send('POST', '/sessions/revoke-others', { token: someone.session_token });
    await Promise.all(asking);
    const asked = await browser.open(api.authorizeUrl(client, { prompt: 'none' }));
    expect(asked.headers.get('location')).toContain('error=login_required');
    expect((await sessionsOf(someone)).filter(({ kind }) => kind === 'hosted')).toEqual([]);
  });

  it('ends when the user signs out there, with the tokens that were bound to it', async () => {
    const someone = await admin.signedIn();
    const client = await api.client();
    const browser = new Browser(server);
    const tokens = await api.tokens(client, someone.user, {}, browser);
    const page = await browser.open(`${issuer}/oauth2/logout`);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [, xsrf] = /name="xsrf" value="(\w+)"/.exec(await page.text())!;
    const forged = await browser.open(`${issuer}/oauth2/logout/confirm`, { xsrf: 'forged', logout: 'yes' });
    expect(forged.status).toBe(400);
    const away = await browser.open(`${issuer}/oauth2/logout/confirm`, { xsrf: xsrf!, logout: 'yes' });
    expect([away.status, away.headers.get('location')]).toEqual([303, `${issuer}/oauth2/logout/success`]);
    expect((await browser.open(away.headers.get('location')!)).status).toBe(200);
    expect((await api.userinfo(tokens.access_token)).status).toBe(401);
    expect((await api.refresh(client, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await sessionsOf(someone)).filter(({ kind }) => kind === 'hosted')).toEqual([]);
    // A user who is not signed in is not asked.
    const again = await browser.open(`${issuer}/oauth2/logout`);
    expect([again.status, again.headers.get('location')]).toEqual([303, `${issuer}/oauth2/logout/success`]);
    // The consent remains.
    expect(await consentsOf(someone)).toHaveLength(1);
  });
});
