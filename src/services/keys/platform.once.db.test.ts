import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['authz', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const tenant = 'acme';
const roles = (apiKey: string, method = 'GET') =>
  server.request(method, '/authz/v1/roles', {
    apiKey,
    ...(method === 'POST' && { body: { name: `Role ${Math.random()}` } }),
  });

describe('a key made over HTTP', () => {
  it('opens the other service with its scopes, and loses that right the moment it is revoked', async () => {
    const { raw_key, key } = await api.issue({ scopes: ['authz:read', 'authz:write'] }, { tenant });
    const created = await roles(raw_key, 'POST');
    expect(created.status).toBe(201);
    expect(created.body.tenant_id).toBe(tenant);
    expect((await roles(raw_key)).body).toHaveLength(1);
    await api.send('POST', `/keys/${key.id}/revoke`, { tenant });
    expect((await roles(raw_key)).status).toBe(401);
    expect((await roles(raw_key, 'POST')).status).toBe(401);
  });

  it('opens no more than its scopes say, and follows them at once', async () => {
    const { raw_key, key } = await api.issue({ scopes: ['authz:read'] }, { tenant });
    expect([(await roles(raw_key)).status, (await roles(raw_key, 'POST')).status]).toEqual([200, 403]);
    await api.send('POST', `/keys/${key.id}/scopes`, { tenant, body: { scopes: ['authz:*'] } });
    expect((await roles(raw_key, 'POST')).status).toBe(201);
    await api.send('DELETE', `/keys/${key.id}/scopes`, {
      tenant,
      body: { scopes: ['authz:*', 'authz:read'] },
    });
    expect((await roles(raw_key)).status).toBe(403);
  });

  it('speaks for its own tenant and app, whatever the headers say', async () => {
    const { raw_key } = await api.issue({ scopes: ['keys:*'] }, { tenant, headers: { 'x-app-id': 'shop' } });
    const headers = { 'x-tenant-id': 'other', 'x-app-id': 'other', 'x-user-id': 'root' };
    const { key } = await api.issue({}, { apiKey: raw_key, headers });
    const self = await server.request('GET', '/keys/v1/whoami', { apiKey: raw_key });
    expect(key).toMatchObject({ tenant_id: tenant, app_id: 'shop', created_by: self.body.id });
  });

  it('works as a Bearer too, and from the addresses of its policy only', async () => {
    const inside = await api.policy({ allowed_ips: ['127.0.0.0/8'] }, { tenant });
    const outside = await api.policy({ allowed_ips: ['203.0.113.0/24'] }, { tenant });
    const scopes = ['authz:read'];
    const [open, closed] = await Promise.all(
      [inside, outside].map(({ id }) => api.issue({ scopes, policy_id: id }, { tenant })),
    );
    expect((await server.request('GET', '/authz/v1/roles', { token: open!.raw_key })).status).toBe(200);
    expect((await server.request('GET', '/authz/v1/roles', { token: closed!.raw_key })).status).toBe(401);
  });

  it('is refused with 429 and the time to wait when its rate is used up', async () => {
    const { id: policy_id } = await api.policy({ rate_limit: 2, rate_window: '10s' }, { tenant });
    const { raw_key } = await api.issue({ scopes: ['authz:read'], policy_id }, { tenant });
    const answers = [await roles(raw_key), await roles(raw_key), await roles(raw_key)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(Number(answers[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('leaves a record of its use, with the address and what it called', async () => {
    const { raw_key, key } = await api.issue({ scopes: ['authz:read'] }, { tenant });
    await roles(raw_key);
    const uses = async () => api.send('GET', `/keys/${key.id}/usage`, { tenant });
    await expect.poll(uses).toHaveLength(1);
    expect((await uses())[0]).toMatchObject({
      outcome: 'VALID',
      method: 'GET',
      endpoint: '/authz/v1/roles',
      ip_address: '127.0.0.1',
    });
    expect((await api.key(key.id, { tenant })).last_used_at).not.toBeNull();
  });
});

describe('a key with a prefix of the platform', () => {
  it('is a key, not a session token', async () => {
    const { raw_key } = await api.issue({ prefix: 'pst', scopes: ['authz:read'] }, { tenant });
    expect((await server.request('GET', '/authz/v1/roles', { token: raw_key })).status).toBe(200);
  });
});
