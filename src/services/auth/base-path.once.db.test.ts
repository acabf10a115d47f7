import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPlinth } from '../../../sdk/src/index.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newEmail } from './testing/index.ts';

let server: TestServer;

beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_BASE_PATH: '/x' } });
});
afterAll(() => server.close());

const signUp = (path: string, email: string) =>
  server.request('POST', path, {
    token: null,
    body: { email, password: 'correct horse battery staple', app_id: 'default' },
  });

it('serves every path under the base path, and none elsewhere', async () => {
  const email = newEmail();
  const { status, body } = await signUp('/auth/x/signup', email);
  expect(status).toBe(201);
  const me = await server.request('GET', '/auth/x/me', { token: body.session_token });
  expect(me.body).toMatchObject({ id: body.user.id, email });
  const elsewhere = await signUp('/auth/v1/auth/signup', newEmail());
  expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'NOT_FOUND']);
});

it('leads there in messages', async () => {
  const email = newEmail();
  await signUp('/auth/x/signup', email);
  const { body } = await server.request('GET', `/auth/x/dev/outbox?to=${encodeURIComponent(email)}`);
  expect(body.messages[0].text).toContain('/auth/x/pages/verify-email?token=vrf_');
});

it('documents the paths as they are served', async () => {
  const { body } = await server.request('GET', '/auth/openapi.json');
  const paths = Object.keys(body.paths);
  expect(paths).toContain('/x/me');
  expect(paths.filter((path) => !path.startsWith('/x/'))).toEqual([]);
  const merged = await server.request('GET', '/openapi.json');
  expect(Object.keys(merged.body.paths)).toContain('/auth/x/me');
});

it('is the issuer of tokens, and where clients find the rest', async () => {
  const found = await server.request('GET', '/auth/x/.well-known/openid-configuration', { token: null });
  const { issuer, token_endpoint, jwks_uri } = found.body;
  expect([new URL(issuer).pathname, token_endpoint, jwks_uri]).toEqual([
    '/auth/x',
    `${issuer}/oauth2/token`,
    `${issuer}/.well-known/jwks.json`,
  ]);
  const body = { name: 'Robot', grant_types: ['client_credentials'], scopes: ['docs:read'] };
  const client = (await server.request('POST', '/auth/x/oauth2/clients', { body })).body;
  const issued = await server.request('POST', '/auth/x/oauth2/token', {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.client_id,
      client_secret: client.client_secret,
    }).toString(),
  });
  expect([issued.status, issued.body.scope]).toEqual([200, 'docs:read']);
});

it('is reached by the SDK with a fetch that puts it into the address', async () => {
  const plinth = createPlinth({
    baseUrl: server.url,
    token: server.rootToken,
    fetch: (request) => fetch(new Request(request.url.replace('/auth/v1/auth/', '/auth/x/'), request)),
  });
  const { settings } = await plinth.auth.apps.get({ appId: 'default' });
  expect(settings.signup_enabled).toBe(true);
});
