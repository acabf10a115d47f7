import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { createSealer } from '../../../lib/seal.ts';
import { masterKey, testServer, type TestServer } from '../../../testing/server.ts';
import { oidcStore } from '../directory/oidc.store.ts';
import { otherApp } from '../testing/index.ts';
import { Browser, callback, interactionsOf, issuer, oauthTools, pkce } from '../testing/oauth.ts';
import { sha256 } from '../directory/tokens.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let client: IssuedClient;
let user: User;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  client = await api.client();
  user = await api.newUser({ name: 'Ada' });
});
afterAll(() => server.close());

/** The provider's response to such a client, without a question to the user. */
async function refusal(parameters: Record<string, string>, asking = client): Promise<(string | null)[]> {
  const response = await new Browser(server).open(api.authorizeUrl(asking, parameters));
  const to = new URL(response.headers.get('location')!);
  expect([response.status, to.origin + to.pathname]).toEqual([303, callback]);
  const said = to.hash === '' ? to.searchParams : new URLSearchParams(to.hash.slice(1));
  return [said.get('error'), said.get('error_description')];
}

/** The page that explains why there is no redirect. */
async function errorPage(url: string): Promise<string> {
  const response = await new Browser(server).open(url);
  expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  return response.text();
}

const waits = async (browser: Browser, url: string) => {
  const location = (await browser.open(url)).headers.get('location')!;
  const uid = /interactions\/([\w-]+)$/.exec(location)![1]!;
  return { location, uid, waiting: await api.interactions.find(uid, browser.cookieFor(location)) };
};

describe('an authorization', () => {
  it('signs a user in, asks for consent, and gives a code that is exchanged for tokens', async () => {
    const newcomer = await api.newUser();
    const seen: string[] = [];
    const { verifier, parameters } = pkce();
    const to = await api.follow(
      new Browser(server),
      api.authorizeUrl(client, { state: 'xyz', ...parameters }),
      async (waiting, port) => {
        seen.push(waiting.prompt);
        expect(waiting).toMatchObject({
          client: { id: client.id, name: 'Reports' },
          app: { id: 'default' },
          userId: waiting.prompt === 'login' ? null : newcomer.id,
          scopes: ['openid', 'profile', 'email'],
          redirectUri: callback,
        });
        return api.willing(newcomer)(waiting, port);
      },
    );
    expect(seen).toEqual(['login', 'consent']);
    expect(to.origin + to.pathname).toBe(callback);
    expect([to.searchParams.get('state'), to.searchParams.get('iss')]).toEqual(['xyz', issuer]);
    const code = to.searchParams.get('code')!;
    const { status, body, headers } = await api.exchange(client, code, { code_verifier: verifier });
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String) as string,
        refresh_token: expect.any(String) as string,
        id_token: expect.any(String) as string,
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'openid profile email',
      },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('takes the vector of RFC 7636', async () => {
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const code = await api.code(client, user, {
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    expect((await api.exchange(client, code, { code_verifier: verifier })).status).toBe(200);
  });

  it('never sends anybody to a redirect URI that is not the client’s', async () => {
    for (const redirect_uri of [
      'https://evil.example.com/callback',
      `${callback}/`,
      `${callback}?next=1`,
      'https://reports.example.com:444/callback',
      'https://REPORTS.example.com/callback',
      'javascript:alert(1)',
    ])
      expect(await errorPage(api.authorizeUrl(client, { redirect_uri }))).not.toContain('<script');
    expect(await errorPage(api.authorizeUrl({ client_id: 'client_01m7w6qgepfq9s8vanppxya2w6' }))).toContain(
      'client is invalid',
    );
    expect(await errorPage(api.authorizeUrl({ client_id: '<script>alert(1)</script>' }))).not.toContain(
      '<script>',
    );
  });

  it('tells the client what is wrong with what it asks', async () => {
    expect(await refusal({ response_type: 'token' })).toEqual([
      'unsupported_response_type',
      expect.any(String),
    ]);
    expect(await refusal({ scope: 'retrieval:read' })).toEqual(['invalid_scope', expect.any(String)]);
    expect(await refusal({ resource: 'urn:example:other' })).toEqual(['invalid_target', expect.any(String)]);
    expect(await refusal({ prompt: 'none' })).toEqual(['login_required', expect.any(String)]);
    expect(await refusal({ code_challenge: pkce().verifier, code_challenge_method: 'plain' })).toEqual([
      'invalid_request',
      expect.any(String),
    ]);
    const open = await api.client({ public: true });
    expect((await refusal({}, open))[0]).toBe('invalid_request');
    const strict = await api.client({ require_pkce: true });
    expect((await refusal({}, strict))[0]).toBe('invalid_request');
  });

  it('is remembered by the browser and asks again where the client wants it', async () => {
    const browser = new Browser(server);
    const nobody = () => Promise.reject(new Error('asked'));
    await api.code(client, user, {}, browser);
    const again = await api.follow(browser, api.authorizeUrl(client, { prompt: 'none' }), nobody);
    expect(again.searchParams.get('code')).not.toBeNull();
    expect((await waits(browser, api.authorizeUrl(client, { prompt: 'login' }))).waiting?.prompt).toBe(
      'login',
    );
    expect((await waits(browser, api.authorizeUrl(client, { prompt: 'consent' }))).waiting?.prompt).toBe(
      'consent',
    );
  });

  it('asks nobody for their consent to a client of one’s own, nor twice for the same', async () => {
    const own = await api.client({ skip_consent: true });
    const prompts: string[] = [];
    const noting =
      (someone: User): ReturnType<typeof api.willing> =>
      (waiting, port) => {
        prompts.push(waiting.prompt);
        return api.willing(someone)(waiting, port);
      };
    await api.follow(new Browser(server), api.authorizeUrl(own), noting(user));
    expect(prompts.splice(0)).toEqual(['login']);
    // Another browser, with the earlier consent.
    await api.code(client, user);
    await api.follow(new Browser(server), api.authorizeUrl(client), noting(user));
    expect(prompts).toEqual(['login']);
  });

  it('goes on only in the browser that began it', async () => {
    const { uid, waiting } = await waits(new Browser(server), api.authorizeUrl(client));
    const other = new Browser(server);
    const { location } = await waits(other, api.authorizeUrl(client));
    expect(waiting).toBeDefined();
    expect(await api.interactions.find(uid, undefined)).toBeUndefined();
    expect(await api.interactions.find(uid, other.cookieFor(location))).toBeUndefined();
    const forged = other.cookieFor(location).replace(/plinth_interaction=[^;]*/, `plinth_interaction=${uid}`);
    expect(await api.interactions.find(uid, forged)).toBeUndefined();
    const { location: back } = await api.interactions.signedIn(waiting!, user.id, ['pwd']);
    expect(await errorPage(back)).toContain('expired');
  });

  it('goes on after the master key was replaced, as long as the previous one is known', async () => {
    const browser = new Browser(server);
    const { location, uid } = await waits(browser, api.authorizeUrl(client));
    const cookie = browser.cookieFor(location);
    const replaced = interactionsOf(server, createSealer(Buffer.alloc(32, 8), masterKey));
    expect(await replaced.find(uid, cookie)).toMatchObject({ uid });
    const changed = cookie.replace(/(plinth_interaction\.sig=)./, '$1~');
    expect(await replaced.find(uid, changed)).toBeUndefined();
  });

  it('that ended after it was looked at is gone, whatever is decided, and stays so', async () => {
    const { waiting } = await waits(new Browser(server), api.authorizeUrl(client));
    const { uid } = waiting!;
    await server.db.sql`delete from auth.oidc where model = 'Interaction' and id_hash = ${sha256(uid)}`;
    const { interactions } = api;
    for (const late of [
      () => interactions.signedIn(waiting!, user.id, ['pwd']),
      () => interactions.consented({ ...waiting!, userId: user.id }),
      () => interactions.aborted(waiting!),
    ])
      await expect(late()).rejects.toMatchObject({ kind: 'gone' });
    const store = oidcStore(server.db.sql);
    expect(await store.decide(sha256(uid), {}, false)).toBe(false);
    expect(await server.db.sql`select from auth.oidc where id_hash = ${sha256(uid)}`).toEqual([]);
  });

  it('tells the client that the user did not want it', async () => {
    const to = await api.follow(
      new Browser(server),
      api.authorizeUrl(client, { state: 's' }),
      async (waiting, port) => (await port.aborted(waiting)).location,
    );
    expect([to.searchParams.get('error'), to.searchParams.get('state')]).toEqual(['access_denied', 's']);
  });

  it('of a browser with a user of another app begins with a new sign-in', async () => {
    const browser = new Browser(server);
    await api.code(client, user, {}, browser);
    const place = await otherApp(server);
    const there = { tenant: place.tenant, headers: { 'X-App-ID': place.id } };
    const elsewhere = await api.client({}, there);
    const stranger = await api.user({}, there);
    const { waiting } = await waits(browser, api.authorizeUrl(elsewhere));
    expect(waiting).toMatchObject({ prompt: 'login', userId: null, tenant: place.tenant });
    expect(await api.code(elsewhere, stranger, {}, browser)).toBeDefined();
    // The previous session is over.
    const { waiting: later } = await waits(browser, api.authorizeUrl(client));
    expect(later).toMatchObject({ prompt: 'login', userId: null });
    const sessions = await server.db.sql`
      select revoked_at from auth.sessions where kind = 'hosted' and user_id = ${stranger.id}`;
    expect(sessions).toEqual([{ revoked_at: null }]);
  });

  it('goes on where somebody else signed in to the browser meanwhile', async () => {
    const [browser, other] = [new Browser(server), await api.newUser()];
    const { waiting } = await waits(browser, api.authorizeUrl(client));
    await api.code(client, other, {}, browser);
    const { location } = await api.interactions.signedIn(waiting!, user.id, ['pwd']);
    const to = await api.follow(browser, location, api.willing(user));
    const { body } = await api.exchange(client, to.searchParams.get('code')!);
    expect(decodeJwt((body as { access_token: string }).access_token).sub).toBe(user.id);
  });

  it('may be pushed before', async () => {
    const { verifier, parameters } = pkce();
    const pushed = await api.post(
      '/oauth2/par',
      { response_type: 'code', redirect_uri: callback, state: 'pushed', ...parameters },
      client,
    );
    expect([pushed.status, pushed.body]).toEqual([
      201,
      { expires_in: 60, request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/) as string },
    ]);
    const url = `${issuer}/oauth2/authorize?${new URLSearchParams({
      client_id: client.client_id,
      request_uri: (pushed.body as { request_uri: string }).request_uri,
    }).toString()}`;
    const to = await api.follow(new Browser(server), url, api.willing(user));
    expect(to.searchParams.get('state')).toBe('pushed');
    const code = to.searchParams.get('code')!;
    expect((await api.exchange(client, code, { code_verifier: verifier })).body).toMatchObject({
      scope: 'openid profile email',
    });
    const again = new URL((await new Browser(server).open(url)).headers.get('location')!);
    expect(again.searchParams.get('error')).toBe('invalid_request_uri');
    const other = { ...client, client_secret: 'sec_wrong' };
    const refused = await api.post('/oauth2/par', { response_type: 'code', redirect_uri: callback }, other);
    expect([refused.status, refused.body]).toMatchObject([
      401,
      { error: 'invalid_client', code: 'UNAUTHORIZED' },
    ]);
  });
});
