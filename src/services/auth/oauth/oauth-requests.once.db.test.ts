/** Unusual parameters of authorization requests, and the responses to them. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { Browser, callback, issuer, oauthTools, pkce } from '../testing/oauth.ts';

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

const nobody = () => Promise.reject(new Error('asked'));
const page = (location: string) => /\/oauth2\/interactions\/([\w-]+)$/.exec(location)?.[1];

/** The parameters of a redirect to the client. */
const said = (to: URL) =>
  Object.fromEntries(to.hash === '' ? to.searchParams : new URLSearchParams(to.hash.slice(1)));

/** The immediate response to the client, without a question to the user. */
async function told(parameters: Record<string, string>, browser = new Browser(server), asking = client) {
  const response = await browser.open(api.authorizeUrl(asking, { state: 's', ...parameters }));
  expect(response.status).toBe(303);
  const to = new URL(response.headers.get('location')!);
  expect(to.origin + to.pathname).toBe(callback);
  return said(to);
}

describe('what is not supported', () => {
  it.each([
    [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    [{ request_uri: 'https://reports.example.com/request.jwt' }, 'request_uri_not_supported'],
    [{ registration: '{"client_name":"Reports"}' }, 'registration_not_supported'],
    [{ response_mode: 'jwt' }, 'unsupported_response_mode'],
    [{ response_mode: 'web_message' }, 'unsupported_response_mode'],
    [{ prompt: 'create' }, 'invalid_request'],
    [{ prompt: 'none login' }, 'invalid_request'],
  ])('is refused by its name: %j', async (parameters, error) => {
    expect(await told(parameters)).toMatchObject({ error, state: 's' });
    if ('request_uri' in parameters) return;
    const form = { response_type: 'code', redirect_uri: callback, ...parameters };
    const pushed = await api.post('/oauth2/par', form, client);
    expect([pushed.status, pushed.body]).toMatchObject([400, { error, code: 'BAD_REQUEST' }]);
  });

  it('nor does a client get what it has no grant for', async () => {
    const machine = await api.client({ grant_types: ['client_credentials'], scopes: ['own:read'] });
    const once = await api.client({ grant_types: ['authorization_code'] });
    const refused = [400, { error: 'unauthorized_client', code: 'BAD_REQUEST' }];
    for (const [asking, form] of [
      [client, { grant_type: 'client_credentials' }],
      [once, { grant_type: 'refresh_token', refresh_token: 'x' }],
      [machine, { grant_type: 'authorization_code', code: 'x', redirect_uri: callback }],
    ] as const) {
      const { status, body } = await api.post('/oauth2/token', form, asking);
      expect([status, body]).toMatchObject(refused);
    }
    const unknown = await api.post('/oauth2/token', { grant_type: 'password' }, client);
    expect([unknown.status, unknown.body]).toMatchObject([400, { error: 'unsupported_grant_type' }]);
    expect(await told({}, new Browser(server), machine)).toMatchObject({ error: 'unauthorized_client' });
  });
});

describe('an authorization that is sent as a form', () => {
  const send = (fields: Record<string, string>) => {
    const form = { client_id: client.id, response_type: 'code', redirect_uri: callback, ...fields };
    const headers = { origin: 'https://reports.example.com' };
    return api.request(`${issuer}/oauth2/authorize`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    });
  };

  it('goes on as one by address, which browsers give their session to', async () => {
    const browser = new Browser(server);
    await api.code(client, user, {}, browser);
    const { status, headers } = await send({ state: 's', prompt: 'none', unknown: 'x' });
    expect(status).toBe(303);
    const to = await api.follow(browser, headers.get('location')!, nobody);
    expect(said(to)).toMatchObject({ code: expect.any(String) as string, state: 's' });
  });

  it('is refused where it is no form, has no client or fits no address', async () => {
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await api.request(`${issuer}/oauth2/authorize`, json)).status).toBe(415);
    expect((await api.post('/oauth2/authorize', {})).status).toBe(400);
    expect(
      (await api.post('/oauth2/authorize', { client_id: client.id, scope: 'x '.repeat(4_090) })).status,
    ).toBe(400);
  });
});

describe('the answer to an authorization', () => {
  it('travels in the fragment where the client wants that, errors as well', async () => {
    const url = api.authorizeUrl(client, { response_mode: 'fragment', state: 's' });
    const to = await api.follow(new Browser(server), url, api.willing(user));
    expect(to.search).toBe('');
    expect(said(to)).toMatchObject({ code: expect.any(String) as string, state: 's', iss: issuer });
    const response = await new Browser(server).open(`${url}&prompt=none`);
    const refused = new URL(response.headers.get('location')!);
    expect([refused.search, said(refused)['error']]).toEqual(['', 'login_required']);
  });

  /** The form of the page, and what the page allows. */
  async function formOf(response: Response) {
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    const [, script = ''] = /<script>([^<]*)<\/script>/.exec(text)!;
    const digest = createHash('sha256').update(script).digest('base64');
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toContain(`script-src 'sha256-${digest}'`);
    expect(policy).toContain("default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(/<button type="submit">/.exec(text)).not.toBeNull();
    const [, action] = /<form method="post" action="([^"]*)"/.exec(text)!;
    const fields = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    return { action, fields: Object.fromEntries(fields.map(([, name, value]) => [name, value])) };
  }

  it('travels as a form where the client wants that, errors as well', async () => {
    const browser = new Browser(server);
    await api.code(client, user, {}, browser);
    const { verifier, parameters } = pkce();
    const state = '"><script>alert(1)</script>';
    const wanted = { response_mode: 'form_post', state, ...parameters };
    const answer = await formOf(await browser.open(api.authorizeUrl(client, wanted)));
    expect(answer).toMatchObject({
      action: callback,
      fields: { state: '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;', iss: issuer },
    });
    const { status } = await api.exchange(client, answer.fields['code'] as string, {
      code_verifier: verifier,
    });
    expect(status).toBe(200);
    const refusal = await new Browser(server).open(api.authorizeUrl(client, { ...wanted, prompt: 'none' }));
    expect(await formOf(refusal)).toMatchObject({ action: callback, fields: { error: 'login_required' } });
  });

  it('travels as a form after the pages, too, and where the request was pushed', async () => {
    const form = { response_type: 'code', redirect_uri: callback, response_mode: 'form_post' };
    const { body } = await api.post('/oauth2/par', form, client);
    const { request_uri } = body as { request_uri: string };
    const query = new URLSearchParams({ client_id: client.id, request_uri }).toString();
    const browser = new Browser(server);
    let at = `${issuer}/oauth2/authorize?${query}`;
    for (;;) {
      const response = await browser.open(at);
      if (response.status === 200) {
        expect(await formOf(response)).toMatchObject({ action: callback, fields: { iss: issuer } });
        break;
      }
      at = response.headers.get('location')!;
      const uid = page(at);
      if (uid === undefined) continue;
      const waiting = await api.interactions.find(uid, browser.cookieFor(at));
      at = await api.willing(user)(waiting!, api.interactions);
    }
  });
});

describe('the answers for programs', () => {
  it('are kept by no cache', async () => {
    for (const { headers } of [
      await api.exchange(client, await api.code(client, user)),
      await api.exchange(client, 'none'),
    ])
      expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });

  it('tell of the provider and its logouts where OAuth 2.0 looks for it, and the same where OpenID Connect does', async () => {
    const { origin, pathname } = new URL(issuer);
    const response = await api.request(`${origin}/.well-known/oauth-authorization-server${pathname}`);
    expect(response.status).toBe(200);
    const metadata = await response.json();
    expect(metadata).toMatchObject({
      issuer,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    });
    expect(await (await api.request(`${issuer}/.well-known/openid-configuration`)).json()).toEqual(metadata);
    const elsewhere = await api.request(`${origin}/.well-known/oauth-authorization-server`);
    expect(elsewhere.status).toBe(404);
  });
});
