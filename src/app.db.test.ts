import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, testServer } from './testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz', 'keys'] });
});
afterAll(() => server.close());

/** Creates an API key with these scopes. */
async function keyWith(scopes: string[], on = server): Promise<{ id: string; raw: string }> {
  const { body } = await on.request('POST', '/keys/v1/keys', { body: { name: 'test', scopes } });
  return { id: body.key.id, raw: body.raw_key };
}

describe('a key made over HTTP', () => {
  test('opens the other service with its scopes, and loses that the moment it is revoked', async () => {
    const { id, raw } = await keyWith(['authz:read']);
    expect((await server.request('GET', '/authz/v1/roles', { apiKey: raw })).status).toBe(200);
    expect((await server.request('GET', '/authz/v1/roles', { token: raw })).status).toBe(200);
    const refused = await server.request('POST', '/authz/v1/roles', { apiKey: raw, body: { name: 'a' } });
    expect([refused.status, refused.body]).toEqual([
      403,
      { error: { code: 403, message: 'missing scope authz:write' } },
    ]);
    expect((await server.request('POST', `/keys/v1/keys/${id}/revoke`, { body: {} })).status).toBe(200);
    const revoked = await server.request('GET', '/authz/v1/roles', { apiKey: raw });
    expect([revoked.status, revoked.body]).toEqual([
      401,
      { error: { code: 401, message: 'credentials are missing or invalid' } },
    ]);
  });

  test('belongs to its tenant, whatever the headers say', async () => {
    const made = await server.request('POST', '/keys/v1/keys', {
      body: { name: 'a', scopes: ['authz:*'] },
      tenant: 'acme',
    });
    const role = await server.request('POST', '/authz/v1/roles', {
      apiKey: made.body.raw_key,
      body: { name: 'a' },
      tenant: 'other',
    });
    expect([role.status, role.body.tenant_id]).toEqual([201, 'acme']);
  });
});

test('a repeat with the same Idempotency-Key makes nothing new, also after a restart', async () => {
  const create = () =>
    server.request('POST', '/authz/v1/roles', {
      body: { name: 'Once' },
      headers: { 'idempotency-key': 'once' },
    });
  const first = await create();
  expect([first.status, (await create()).text]).toEqual([201, first.text]);
  await server.restart();
  const again = await create();
  expect([again.status, again.text, again.headers.get('x-revision')]).toEqual([
    201,
    first.text,
    first.headers.get('x-revision'),
  ]);
});

test('the numbers and pages are there', async () => {
  expect((await server.request('GET', '/readyz')).body).toEqual({ status: 'ready' });
  const index = (await server.request('GET', '/')).body as { services: { base: string }[] };
  expect(index.services.map(({ base }) => base)).toEqual(['/authz', '/keys']);
  expect((await server.request('GET', '/authz/openapi.json')).body.info.title).toBe('Plinth authorization');
});

test('a service that is specified and not built is neither served nor listed', async () => {
  const token = { headers: { authorization: `Bearer ${server.rootToken}` } };
  for (const path of ['/gateway/gateway/api/cache', '/gateway/docs', '/gateway/openapi.json']) {
    const { status, body } = await server.request('GET', path, token);
    expect([status, body]).toEqual([404, { error: 'path not found' }]);
  }
  const { text } = await server.request('GET', '/', { headers: { accept: 'text/html' } });
  expect(text).toContain('/authz');
  expect(text).not.toContain('gateway');
});

test('a path without its service in front names the one that was meant', async () => {
  expect((await server.request('GET', '/v1/roles')).body).toEqual({
    error: 'path not found, did you mean /authz/v1/roles?',
  });
});

test('a server without keys asks the one it is told of', async () => {
  const alone = await testServer({
    services: ['authz'],
    remotes: { keys: { url: `${server.url}/keys`, token: server.rootToken } },
  });
  try {
    const { id, raw } = await keyWith(['authz:read']);
    expect((await alone.request('GET', '/authz/v1/roles', { apiKey: raw })).status).toBe(200);
    await server.request('POST', `/keys/v1/keys/${id}/revoke`, { body: {} });
    expect((await alone.request('GET', '/authz/v1/roles', { apiKey: raw })).status).toBe(401);
  } finally {
    await alone.close();
  }
});
