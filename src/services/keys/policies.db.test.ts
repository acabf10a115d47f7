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

describe('create', () => {
  it('fills in what is absent', async () => {
    const policy = await api.policy({ name: 'Defaults' });
    expect(policy).toMatchObject({
      name: 'Defaults',
      description: '',
      rate_limit: 0,
      rate_window: '1m',
      allowed_ips: [],
      allowed_origins: [],
      max_key_age: null,
      allowed_scopes: [],
      grace_period: '24h',
      require_context: false,
      key_count: 0,
    });
    expect(await api.send('GET', `/policies/${policy.id}`)).toEqual(policy);
  });

  it('stores one spelling for one meaning', async () => {
    const policy = await api.policy({
      rate_window: '90m',
      grace_period: '0h30m0s',
      max_key_age: '129600m',
      allowed_ips: ['203.0.113.9/24', '::ffff:10.0.0.1', '2001:DB8::1/32', '10.0.0.1/32'],
      allowed_origins: ['https://App.Example.com:443', 'https://*.example.com', '*'],
      allowed_scopes: ['write:x', 'read:*', 'read:*'],
    });
    expect(policy).toMatchObject({
      rate_window: '1h30m',
      grace_period: '30m',
      max_key_age: '2160h',
      allowed_ips: ['203.0.113.0/24', '10.0.0.1/32', '2001:db8::/32'],
      allowed_origins: ['https://app.example.com', 'https://*.example.com', '*'],
      allowed_scopes: ['read:*', 'write:x'],
    });
  });

  it.each<[string, object]>([
    ['name', { name: '' }],
    ['rate_limit', { rate_limit: -1 }],
    ['rate_limit', { rate_limit: 100_000_001 }],
    ['rate_limit', { rate_limit: 1.5 }],
    ['rate_window', { rate_window: '999ms' }],
    ['rate_window', { rate_window: '720h1s' }],
    ['rate_window', { rate_window: 'soon' }],
    ['allowed_ips[1]', { allowed_ips: ['10.0.0.0/8', '10.0.0.0/33'] }],
    ['allowed_ips[0]', { allowed_ips: ['fe80::1%eth0'] }],
    ['allowed_ips', { allowed_ips: Array(101).fill('10.0.0.1') }],
    ['allowed_origins[0]', { allowed_origins: ['https://user@example.com'] }],
    ['allowed_origins[0]', { allowed_origins: ['example.com'] }],
    ['max_key_age', { max_key_age: '59m' }],
    ['max_key_age', { max_key_age: '87601h' }],
    ['max_key_age', { max_key_age: '90m' }],
    ['allowed_scopes', { allowed_scopes: ['not a scope'] }],
    ['grace_period', { grace_period: '721h' }],
    ['require_context', { require_context: 'yes' }],
    ['rate', { rate: 1 }],
  ])('400 names %s when it is out of its bounds', async (field, body) => {
    const [status, error] = await api.refusal('POST', '/policies', { body: { name: 'x', ...body } });
    expect(status).toBe(400);
    expect(error).toContain(field);
  });

  it('of fifty at once with one name, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        server.request('POST', '/keys/v1/policies', { body: { name: 'Same' } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body)).toEqual(
      Array(49).fill({ error: 'policy name already exists', code: 'CONFLICT' }),
    );
  });
});

describe('list', () => {
  it('answers the policies of the tenant, newest first, page by page', async () => {
    const tenant = 'pages';
    for (const name of ['a', 'b', 'c']) await api.policy({ name }, { tenant });
    const names = (body: { name: string }[]) => body.map(({ name }) => name);
    const first = await server.request('GET', '/keys/v1/policies?limit=2', { tenant });
    const cursor = first.headers.get('x-next-cursor');
    const rest = await server.request('GET', `/keys/v1/policies?limit=2&cursor=${cursor}`, { tenant });
    expect([names(first.body), names(rest.body)]).toEqual([['c', 'b'], ['a']]);
    expect(names(await api.send('GET', '/policies?offset=1', { tenant }))).toEqual(['b', 'a']);
  });
});

describe('update', () => {
  it('takes the moments that it showed in every form in which clients write them, and no others', async () => {
    const policy = await api.policy({ name: 'Moments' });
    const { id, created_at } = policy as { id: string; created_at: string };
    await server.db.sql`update keys.policies set created_at = '2026-01-20T08:30:00.500Z' where id = ${id}`;
    const put = async (at: string) => {
      const body = { ...policy, created_at: at };
      return (await server.request('PUT', `/keys/v1/policies/${id}`, { body })).status;
    };
    const same = [
      '2026-01-20T08:30:00.5Z',
      '2026-01-20T08:30:00.500000+00:00',
      '2026-01-20T09:30:00.500+01:00',
    ];
    for (const at of same) expect(await put(at)).toBe(200);
    const others = [
      created_at,
      '2026-01-20T08:30:00.500001Z',
      '2026-01-20T08:30:00Z',
      '2026-02-30T08:30:00Z',
      '',
    ];
    for (const at of others) expect(await put(at)).toBe(400);
  });

  it('changes what is present and keeps the rest; what was read can be written back', async () => {
    const policy = await api.policy({ max_key_age: '48h', allowed_ips: ['10.0.0.0/8'] });
    const update = (body: object) => api.send('PUT', `/policies/${policy.id}`, { body });
    const changed = await update({ max_key_age: null, rate_limit: 5 });
    expect(changed).toEqual({ ...policy, max_key_age: null, rate_limit: 5, updated_at: changed.updated_at });
    expect(await update(changed)).toEqual(changed);
  });

  it('gives the default back for null where there is one', async () => {
    const { id } = await api.policy({ rate_limit: 5, rate_window: '2m', allowed_ips: ['10.0.0.0/8'] });
    const body = { rate_limit: null, rate_window: null, allowed_ips: null };
    const restored = { rate_limit: 0, rate_window: '1m', allowed_ips: [] };
    expect(await api.send('PUT', `/policies/${id}`, { body })).toMatchObject(restored);
  });

  it('409 for a name that another policy has', async () => {
    await api.policy({ name: 'Taken' });
    const { id } = await api.policy({ name: 'Mine' });
    const refusal = await api.refusal('PUT', `/policies/${id}`, { body: { name: 'Taken' } });
    expect(refusal).toEqual([409, 'policy name already exists']);
  });

  it('409 when its keys hold scopes that it would no longer allow, and says how many keys', async () => {
    const { id: policy_id } = await api.policy();
    const [first] = await Promise.all(
      [['read:a'], ['read:a', 'write:a'], ['read', 'writ'], ['read:a:b']].map((scopes) =>
        api.issue({ policy_id, scopes }),
      ),
    );
    const narrow = (allowed_scopes: string[]) =>
      api.refusal('PUT', `/policies/${policy_id}`, { body: { allowed_scopes } });
    expect(await narrow(['read:*'])).toEqual([409, 'allowed_scopes: 2 keys hold other scopes']);
    expect(await narrow(['read:a', 'write:*', 'read', 'writ'])).toEqual([
      409,
      'allowed_scopes: 1 key holds other scopes',
    ]);
    expect((await narrow(['read:*', 'write:a', 'read', 'writ']))[0]).toBe(200);
    expect((await narrow(['*']))[0]).toBe(200);
    expect((await api.key(first!.key.id)).scopes).toEqual(['read:a']);
  });
});

describe('delete', () => {
  it('409 while a key that can be used uses it; revoked and deleted keys lose it', async () => {
    const { id: policy_id } = await api.policy();
    const [used, revoked, deleted] = await Promise.all([1, 2, 3].map(() => api.issue({ policy_id })));
    await api.send('POST', `/keys/${revoked!.key.id}/revoke`);
    await api.send('DELETE', `/keys/${deleted!.key.id}`);
    expect((await api.send('GET', `/policies/${policy_id}`)).key_count).toBe(1);
    expect(await api.refusal('DELETE', `/policies/${policy_id}`)).toEqual([409, 'policy is used by 1 key']);
    await api.send('PATCH', `/keys/${used!.key.id}`, { body: { policy_id: null } });
    await api.send('DELETE', `/policies/${policy_id}`);
    expect(await api.refusal('GET', `/policies/${policy_id}`)).toEqual([404, 'policy not found']);
    expect((await api.key(revoked!.key.id)).policy_id).toBeNull();
  });

  it('against the creation of a key with it never leaves an id that dangles', async () => {
    for (let round = 0; round < 25; round++) {
      const { id: policy_id } = await api.policy();
      const [created, deleted] = await Promise.all([
        server.request('POST', '/keys/v1/keys', { body: { name: 'x', policy_id } }),
        server.request('DELETE', `/keys/v1/policies/${policy_id}`),
      ]);
      expect([
        [201, 409],
        [404, 204],
      ]).toContainEqual([created.status, deleted.status]);
    }
    const [{ count }] = await server.db.sql<[{ count: number }]>`
      select count(*) from keys.keys k
      where policy_id is not null and not exists (select from keys.policies p where p.id = k.policy_id)`;
    expect(count).toBe(0);
  });
});
