import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client, ClientInformation } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { mostRegistered } from './client-registration.store.ts';
import { otherApp } from '../testing/index.ts';
import { heading, testBrowser } from '../testing/pages.ts';
import { Browser, callback, fetchFrom, issuer, oauthTools, pkce } from '../testing/oauth.ts';

const notebook = { client_name: 'Notebook', redirect_uris: [callback], token_endpoint_auth_method: 'none' };
const path = '/auth/v1/auth/oauth2/register';
const password = 'correct horse battery staple';

let open: TestServer;
let api: ReturnType<typeof oauthTools>;
beforeAll(async () => {
  open = await testServer({
    services: ['auth', 'keys'],
    env: { PLINTH_AUTH_CLIENT_REGISTRATION: 'open', PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' },
  });
  api = oauthTools(open);
});
afterAll(() => open.close());

const register = async (body: object = notebook, options: object = {}) =>
  (await api.send('POST', '/oauth2/register', { token: null, ...options, body })) as ClientInformation;
const at = ({ registration_client_uri: uri, registration_access_token: token }: ClientInformation) => ({
  request: (method: string, body?: object, presented = token) =>
    open.request(method, `${path}/${uri.split('/').at(-1)!}`, { token: presented, body }),
});
/** The status, the error code and the description of a refusal. */
async function refusal(body: object, server = open, options: object = {}) {
  const { status, body: said } = await server.request('POST', path, { token: null, ...options, body });
  const { error, error_description } = said as { error: string; error_description: string };
  return [status, error, error_description];
}

describe('a client that registers itself', () => {
  it('is one that an outside library makes and uses', async () => {
    const send = fetchFrom(open) as (url: string, options: object) => Promise<Response>;
    const options = { [oauth.customFetch]: send, [oauth.allowInsecureRequests]: true as const };
    const server = await oauth.processDiscoveryResponse(
      new URL(issuer),
      await oauth.discoveryRequest(new URL(issuer), options),
    );
    expect(server.registration_endpoint).toBe(`${issuer}/oauth2/register`);
    const asked = { client_name: 'Notebook', redirect_uris: [callback], scope: 'openid profile' };
    const response = await oauth.dynamicClientRegistrationRequest(server, asked, options);
    const made = await oauth.processDynamicClientRegistrationResponse(response);
    expect(made).toMatchObject({
      ...asked,
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      client_secret: expect.stringMatching(/^sec_/) as string,
      client_secret_expires_at: 0,
      registration_access_token: expect.stringMatching(/^reg_/) as string,
      registration_client_uri: `${issuer}/oauth2/register/${made.client_id}`,
    });
    const client = (await api.send('GET', `/oauth2/clients/${made.client_id}`)) as Client;
    expect(client).toMatchObject({ self_registered: true, require_pkce: true, skip_consent: false });
    const user = await api.newUser();
    const tokens = await api.tokens({ ...client, client_secret: made.client_secret as string }, user);
    expect(tokens.scope).toBe('openid profile');
    const stored = await open.db.sql<{ text: string }[]>`select clients::text as text from auth.clients`;
    for (const { text } of stored) {
      expect(text).not.toContain(made.registration_access_token);
      expect(text).not.toContain(made.client_secret);
    }
  });

  it('is called unverified wherever users see its name', async () => {
    const { client_id } = await register();
    const { user, session_token: token } = await api.signUp();
    const own = testBrowser(open);
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri: callback,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const signin = await own.follow(await own.open(`/oauth2/authorize?${query.toString()}`));
    expect(signin.text).toContain('to continue to Notebook (unverified)');
    const fields = { identifier: user.email!, password };
    const consent = await own.follow(await own.submit(signin, '/signin', fields));
    expect(heading(consent)).toBe('Allow Notebook (unverified)?');
    expect(consent.text).toContain('nobody has checked its name');
    expect(consent.text).toContain('<strong>reports.example.com</strong>');
    await own.follow(await own.submit(consent, '/consent'));
    const { consents } = await api.send('GET', '/me/consents', { token });
    expect(consents).toMatchObject([{ client_id, client_name: 'Notebook (unverified)' }]);
  });

  it('reads, changes and deletes its registration with its token', async () => {
    const made = await register({ ...notebook, token_endpoint_auth_method: 'client_secret_basic' });
    const { request } = at(made);
    const { client_secret, client_secret_expires_at: _, ...shown } = made;
    const read = await request('GET');
    expect([read.status, read.body, read.headers.get('cache-control')]).toEqual([200, shown, 'no-store']);
    const next = {
      client_id: made.client_id,
      client_secret,
      client_name: 'Notes',
      redirect_uris: [callback],
    };
    const changed = await request('PUT', { ...next, scope: 'openid' });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...shown, client_name: 'Notes', scope: 'openid' },
    ]);
    const bound = await request('PUT', { ...next, dpop_bound_access_tokens: true });
    expect(bound.body).toMatchObject({ dpop_bound_access_tokens: true });
    const secret = { ...next, client_secret: 'sec_chosen' };
    expect((await request('PUT', secret)).body).toMatchObject({ error: 'invalid_client_metadata' });
    const other = { ...next, client_id: 'client_01m7w6qgepfq9s8vanppxya2w6' };
    expect((await request('PUT', other)).status).toBe(400);
    expect((await request('PUT', { ...next, token_endpoint_auth_method: 'none' })).status).toBe(400);
    expect((await request('DELETE')).status).toBe(204);
    expect((await request('GET')).status).toBe(401);
  });

  it('is allowed nothing any more once it would send users elsewhere', async () => {
    const made = await register();
    const { id: userId } = await api.newUser();
    const [browser, prompts] = [new Browser(open), [] as string[]];
    const authorize = (redirect_uri: string) => {
      const parameters = { redirect_uri, scope: 'openid', ...pkce().parameters };
      return api.follow(browser, api.authorizeUrl(made, parameters), (waiting, port) => {
        prompts.push(waiting.prompt);
        return api.willing({ id: userId })(waiting, port);
      });
    };
    await authorize(callback);
    await authorize(callback);
    expect(prompts.splice(0)).toEqual(['login', 'consent']);
    const elsewhere = 'https://elsewhere.example.net/callback';
    const { request } = at(made);
    expect((await request('PUT', { ...notebook, client_name: 'Notes' })).status).toBe(200);
    await authorize(callback);
    expect(prompts.splice(0)).toEqual([]);
    const moved = { ...notebook, redirect_uris: [callback, elsewhere] };
    expect((await request('PUT', moved)).status).toBe(200);
    await authorize(elsewhere);
    expect(prompts).toEqual(['consent']);
  });

  it('cannot touch another’s, nor can a token of anything else', async () => {
    const [one, other] = [await register(), await register()];
    const tokens = [other.registration_access_token, 'reg_nonsense', open.rootToken];
    for (const token of tokens)
      for (const [method, body] of [['GET'], ['PUT', notebook], ['DELETE']] as [string, object?][]) {
        const { status, body: said, headers } = await at(one).request(method, body, token);
        expect([status, said, headers.get('www-authenticate')]).toMatchObject([
          401,
          { error: 'invalid_token', code: 'UNAUTHORIZED' },
          expect.stringMatching(/^Bearer/),
        ]);
      }
    expect((await at(one).request('GET')).status).toBe(200);
  });

  it.each([
    [
      { scope: 'openid auth:write' },
      'invalid_client_metadata',
      'scope: auth:write is not for clients that registered themselves',
    ],
    [{ scope: '*' }, 'invalid_client_metadata', 'scope: * is not for clients that registered themselves'],
    [
      { grant_types: ['client_credentials'] },
      'invalid_client_metadata',
      expect.stringMatching(/^grant_types: /),
    ],
    [{ response_types: ['token'] }, 'invalid_client_metadata', expect.stringMatching(/^response_types: /)],
    [{ redirect_uris: [] }, 'invalid_redirect_uri', expect.stringMatching(/^redirect_uris: /)],
    [
      { redirect_uris: ['javascript:alert(1)'] },
      'invalid_redirect_uri',
      expect.stringMatching(/^redirect_uris: /),
    ],
    [
      { redirect_uris: ['http://evil.example.com/'] },
      'invalid_redirect_uri',
      expect.stringMatching(/^redirect_uris: /),
    ],
    [{ client_name: 'x'.repeat(10_000) }, 'invalid_client_metadata', expect.stringMatching(/^client_name: /)],
    [{ client_name: '\u0000' }, 'invalid_client_metadata', expect.stringMatching(/^client_name: /)],
  ])('may not be %j', async (change, error, description) => {
    expect(await refusal({ ...notebook, ...change })).toEqual([400, error, description]);
  });

  it('never gets what somebody has to vouch for, not from an administrator either', async () => {
    const { client_id } = await register();
    for (const body of [{ scopes: ['auth:read'] }, { skip_consent: true }])
      expect((await api.refusal('PATCH', `/oauth2/clients/${client_id}`, { body }))[0]).toBe(400);
    const renamed = { body: { name: 'Checked' } };
    expect(await api.send('PATCH', `/oauth2/clients/${client_id}`, renamed)).toMatchObject({
      name: 'Checked',
    });
  });

  it('belongs to the app that is named, and says no more than it is asked', async () => {
    const place = await otherApp(open);
    const { client_id } = await register({ ...notebook, logo_uri: 'https://evil.example.com/' }, {});
    expect(await api.send('GET', `/oauth2/clients/${client_id}`)).toMatchObject({ app_id: 'default' });
    const { status, body } = await open.request('POST', `${path}?app_id=${place.id}`, {
      token: null,
      body: notebook,
    });
    expect(status).toBe(201);
    const there = { tenant: place.tenant, headers: { 'X-App-ID': place.id } };
    const id = (body as ClientInformation).client_id;
    expect(await api.send('GET', `/oauth2/clients/${id}`, there)).toMatchObject({ app_id: place.id });
    expect(
      (await open.request('POST', `${path}?app_id=nowhere`, { token: null, body: notebook })).status,
    ).toBe(400);
  });

  it('is one of a thousand at most, also where twenty come at once; who leaves makes room', async () => {
    const place = await otherApp(open);
    const post = () => open.request('POST', `${path}?app_id=${place.id}`, { token: null, body: notebook });
    const first = (await post()).body as ClientInformation;
    await open.db.sql`
      update auth.registration_counts set clients = ${mostRegistered - 3} where app_id = ${place.id}`;
    const answers = await Promise.all(Array.from({ length: 20 }, post));
    const statuses = answers.map(({ status }) => status);
    expect([
      statuses.filter((one) => one === 201).length,
      statuses.filter((one) => one === 409).length,
    ]).toEqual([3, 17]);
    expect((await at(first).request('DELETE')).status).toBe(204);
    expect([(await post()).status, (await post()).status]).toEqual([201, 409]);
  });
});

describe('the registration of clients', () => {
  it('is off unless it is switched on', async () => {
    const off = await testServer({ services: ['auth'] });
    try {
      expect(await refusal(notebook, off)).toEqual([
        403,
        'access_denied',
        'clients cannot register themselves here',
      ]);
      expect(await refusal(notebook, off, { token: off.rootToken })).toEqual([
        403,
        'access_denied',
        expect.any(String),
      ]);
      const { body } = await off.request('GET', '/auth/v1/auth/.well-known/openid-configuration', {
        token: null,
      });
      expect(body).not.toHaveProperty('registration_endpoint');
    } finally {
      await off.close();
    }
  });

  it('may ask for an initial access token: a credential with the scope auth:write', async () => {
    const guarded = await testServer({
      services: ['auth', 'keys'],
      env: { PLINTH_AUTH_CLIENT_REGISTRATION: 'token' },
    });
    try {
      expect(await refusal(notebook, guarded)).toEqual([
        401,
        'invalid_token',
        'an initial access token is needed',
      ]);
      expect((await refusal(notebook, guarded, { token: 'pk_wrong' }))[0]).toBe(401);
      const keyFor = async (scopes: string[]) => {
        const { body } = await guarded.request('POST', '/keys/v1/keys', { body: { name: 'k', scopes } });
        return (body as { raw_key: string }).raw_key;
      };
      const weak = await keyFor(['auth:read']);
      expect((await refusal(notebook, guarded, { apiKey: weak })).slice(0, 2)).toEqual([
        403,
        'insufficient_scope',
      ]);
      const strong = await keyFor(['auth:write']);
      const { status } = await guarded.request('POST', path, { token: null, apiKey: strong, body: notebook });
      expect(status).toBe(201);
    } finally {
      await guarded.close();
    }
  });
});
