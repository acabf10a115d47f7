import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

describe('create', () => {
  it('answers the raw key once, next to the key, and tells caches to leave it alone', async () => {
    const { status, headers, body } = await server.request('POST', '/keys/v1/keys', {
      body: { name: 'Reporting job' },
    });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.raw_key).toMatch(/^sk_live_[0-9A-Za-z]{55}$/);
    expect(body.key).toMatchObject({
      name: 'Reporting job',
      description: '',
      prefix: 'sk',
      environment: 'live',
      state: 'active',
      scopes: [],
      policy_id: null,
      owner_id: null,
      metadata: {},
      expires_at: null,
      live_secrets: 1,
      rotated_at: null,
      last_used_at: null,
      revoked_at: null,
      revoke_reason: null,
      created_by: 'root',
      tenant_id: 'default',
      app_id: 'default',
    });
    expect(body.raw_key.endsWith(body.key.hint)).toBe(true);
    expect(await api.key(body.key.id)).toEqual(body.key);
  });

  it('keeps what it is given, the scopes sorted and each once', async () => {
    const given = {
      name: 'Job',
      description: 'nightly',
      prefix: 'my_app',
      environment: 'test',
      scopes: ['write:x', 'read:x', 'read:x'],
      owner_id: 'customer-42',
      metadata: { plan: 'pro', nested: { deep: [1, null] } },
      expires_at: tomorrow(),
    };
    const { raw_key, key } = await api.issue(given);
    expect(raw_key).toMatch(/^my_app_test_/);
    expect(key).toMatchObject({ ...given, scopes: ['read:x', 'write:x'] });
  });

  it.each(['id', 'state', 'live_secrets', 'created_at', 'revoked_at'])(
    'is refused with %s, which only the server sets',
    async (name) => {
      const refused = [400, `${name}: is set by the server, leave it out`];
      expect(await api.refusal('POST', '/keys', { body: { name: 'x', [name]: 'revoked' } })).toEqual(refused);
    },
  );

  it('may name the tenant and the app of the caller, and what is null', async () => {
    const { key } = await api.issue({ id: null, tenant_id: 'default', app_id: 'default' });
    expect(key).toMatchObject({ state: 'active', tenant_id: 'default', app_id: 'default' });
  });

  it('is never made elsewhere than in the tenant and the app that a request names', async () => {
    const refused = (body: object) => api.refusal('POST', '/keys', { body: { name: 'x', ...body } });
    const advice = 'is not taken here; name the';
    expect(await refused({ tenant_id: 'other' })).toEqual([
      400,
      `tenant_id: ${advice} tenant with X-Tenant-ID`,
    ]);
    expect(await refused({ app_id: 'other' })).toEqual([400, `app_id: ${advice} app with X-App-ID`]);
  });

  it('registers the scopes that are new', async () => {
    await api.issue({ scopes: ['fresh:scope'] });
    const names = (await api.send('GET', '/scopes?limit=1000')).map(({ name }: { name: string }) => name);
    expect(names).toContain('fresh:scope');
  });

  it.each([
    ['name: required', {}],
    ['expires_at: must be in the future', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }],
    ['metadata: at most 5 levels', { name: 'x', metadata: { 1: { 2: { 3: { 4: { 5: {} } } } } } }],
    ['metadata: at most 8192 bytes', { name: 'x', metadata: { text: 'é'.repeat(4096) } }],
  ])('400 %s', async (error, body) => {
    expect(await api.refusal('POST', '/keys', { body })).toEqual([400, error]);
  });

  it.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: 'n'.repeat(129) }],
    ['name', { name: 'a\0b' }],
    ['prefix', { prefix: '_sk' }],
    ['prefix', { prefix: 'sk_' }],
    ['prefix', { prefix: 'p'.repeat(33) }],
    ['environment', { environment: 'Live' }],
    ['environment', { environment: 'e'.repeat(33) }],
    ['scopes', { scopes: Array.from({ length: 101 }, (_, index) => `s${index}`) }],
    ['scopes', { scopes: ['a b'] }],
    ['scopes', { scopes: ['a:*:b'] }],
    ['policy_id', { policy_id: 'key_01m7w6qgepfq9s8vbpxf0zva73' }],
    ['owner_id', { owner_id: '' }],
    ['owner_id', { owner_id: 'o'.repeat(129) }],
    ['description', { description: 'd'.repeat(1001) }],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [index, 0])) }],
    ['metadata', { metadata: [] }],
    ['expires_at', { expires_at: '2099-02-30T00:00:00Z' }],
    ['expires_at', { expires_at: 'tomorrow' }],
    ['expire_at', { expire_at: '2099-01-01T00:00:00Z' }],
  ])('400 names %s when it is out of its bounds', async (field, body) => {
    const [status, error] = await api.refusal('POST', '/keys', { body: { name: 'x', ...body } });
    expect(status).toBe(400);
    expect(error).toContain(field);
  });

  it('takes every field at its bounds', async () => {
    const body = {
      name: 'n'.repeat(128),
      prefix: 'p'.repeat(32),
      environment: 'e'.repeat(32),
      description: 'd'.repeat(1000),
      owner_id: 'o'.repeat(128),
      scopes: Array.from({ length: 100 }, (_, index) => `scope${index}`),
      metadata: { a: { b: { c: { d: [] } } } },
    };
    const { raw_key, key } = await api.issue(body);
    expect(key).toMatchObject({ ...body, scopes: body.scopes.toSorted() });
    expect((await api.judge(raw_key)).valid).toBe(true);
  });

  it('keeps __proto__ and line breaks as data, and statements as text', async () => {
    const name = `x'); drop table keys.keys; --`;
    const body = `{"name": ${JSON.stringify(name)}, "metadata": {"__proto__": {"admin": true}, "constructor": "a\\nb"}}`;
    const { status, text } = await server.request('POST', '/keys/v1/keys', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(status, text).toBe(201);
    const answer = await server.request('GET', `/keys/v1/keys/${JSON.parse(text).key.id}`);
    expect(answer.text).toContain('"__proto__":{"admin":true}');
    expect(answer.text).toContain('"constructor":"a\\nb"');
    expect(JSON.parse(answer.text).name).toBe(name);
  });

  it('404 for a policy that does not exist', async () => {
    const body = { name: 'x', policy_id: 'kpol_01m7w6qgepfq9s8vbysg9zj04z' };
    expect(await api.refusal('POST', '/keys', { body })).toEqual([404, 'policy not found']);
  });
});

describe('update', () => {
  it('changes what is present, clears with null, keeps the rest', async () => {
    const { key } = await api.issue({ owner_id: 'a', expires_at: tomorrow(), metadata: { a: 1 } });
    const changed = await api.send('PATCH', `/keys/${key.id}`, {
      body: { owner_id: null, expires_at: null, metadata: { b: 2 } },
    });
    expect(changed).toEqual({
      ...key,
      owner_id: null,
      expires_at: null,
      metadata: { b: 2 },
      updated_at: changed.updated_at,
    });
  });

  it('takes back what was read, unchanged', async () => {
    const { key } = await api.issue({ scopes: ['a', 'b'], expires_at: tomorrow() });
    expect(await api.send('PATCH', `/keys/${key.id}`, { body: key })).toEqual(key);
  });

  it.each([
    ['prefix: cannot be changed', { prefix: 'pk' }],
    ['environment: cannot be changed', { environment: 'test' }],
    ['scopes: assign and remove them', { scopes: ['more'] }],
    ['expires_at: must be in the future', { expires_at: '2020-01-01T00:00:00Z' }],
  ])('400 %s', async (error, body) => {
    const { key } = await api.issue();
    expect(await api.refusal('PATCH', `/keys/${key.id}`, { body })).toEqual([400, error]);
  });

  it('400 when the new policy does not allow a scope that the key holds', async () => {
    const { id: policy_id } = await api.policy({ allowed_scopes: ['read:*'] });
    const { key } = await api.issue({ scopes: ['read:x', 'write:x'] });
    const refusal = await api.refusal('PATCH', `/keys/${key.id}`, { body: { policy_id } });
    expect(refusal).toEqual([400, 'scopes: the policy does not allow write:x']);
  });
});

describe('delete', () => {
  it('makes the key absent everywhere', async () => {
    const { raw_key, key } = await api.issue();
    const { status, text } = await server.request('DELETE', `/keys/v1/keys/${key.id}`);
    expect([status, text]).toEqual([204, '']);
    expect(await api.refusal('GET', `/keys/${key.id}`)).toEqual([404, 'key not found']);
    expect(await api.refusal('DELETE', `/keys/${key.id}`)).toEqual([404, 'key not found']);
    expect((await api.judge(raw_key)).code).toBe('NOT_FOUND');
    expect((await api.send('GET', '/keys?limit=1000')).map(({ id }: { id: string }) => id)).not.toContain(
      key.id,
    );
  });
});

describe('whoami', () => {
  it('answers the key of the request with what is left of its rate', async () => {
    const { id: policy_id } = await api.policy({ rate_limit: 100, rate_window: '1h' });
    const { raw_key, key } = await api.issue({ policy_id });
    const { status, body } = await server.request('GET', '/keys/v1/whoami', { apiKey: raw_key });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: key.id, rate_limit: { limit: 100, window: '1h' } });
  });

  it('needs no scope, but an API key', async () => {
    const { raw_key } = await api.issue();
    expect((await server.request('GET', '/keys/v1/whoami', { apiKey: raw_key })).body.rate_limit).toBeNull();
    expect(await api.refusal('GET', '/whoami')).toEqual([403, 'an API key is needed']);
  });

  it('of a key that is deleted after it was let in is the 401 of every dead key', async () => {
    const { raw_key, key } = await api.issue();
    // Deleted without notice to the cache: the credential still passes, but the key can no longer be read.
    expect((await api.judge(raw_key)).code).toBe('VALID');
    await server.db.sql`update keys.keys set deleted_at = now() where id = ${key.id}`;
    const { status } = await server.request('GET', '/keys/v1/whoami', { apiKey: raw_key });
    expect(status).toBe(401);
  });
});

describe('settings', () => {
  it('a tenant has no more keys than it may, however many are made at once', async () => {
    const small = await testServer({ services: ['keys'], env: { PLINTH_KEYS_MAX_PER_TENANT: '3' } });
    const made = await Promise.all(
      Array.from({ length: 10 }, () => small.request('POST', '/keys/v1/keys', { body: { name: 'x' } })),
    );
    await small.close();
    expect(made.filter(({ status }) => status === 201)).toHaveLength(3);
    const refused = made.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.error)).toEqual(Array(7).fill('a tenant has at most 3 keys'));
  });

  it('strict scopes refuse a name that is not registered', async () => {
    const strict = await testServer({ services: ['keys'], env: { PLINTH_KEYS_STRICT_SCOPES: 'on' } });
    const other = tools(strict);
    const refused = await other.refusal('POST', '/keys', { body: { name: 'x', scopes: ['a', 'b'] } });
    await other.send('POST', '/scopes', { body: { name: 'a' } });
    await other.send('POST', '/scopes', { body: { name: 'b' } });
    const { key } = await other.issue({ scopes: ['a', 'b'] });
    await strict.close();
    expect(refused).toEqual([400, 'scopes: a is not registered']);
    expect(key.scopes).toEqual(['a', 'b']);
  });
});
