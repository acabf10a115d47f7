import { describe, expect, it } from 'vitest';
import { authzServer, pluck } from './testing.ts';

const authz = authzServer();

const policy = (more: object = {}) => ({
  ...{ name: 'Readers', effect: 'allow', subjects: ['user:*'], actions: ['read'], resources: ['document:*'] },
  ...more,
});

it('is stored with its defaults, once under its name', async () => {
  const { create, post, get } = authz.tenant();
  const stored = await create('/policies', policy());
  expect(stored).toMatchObject({
    ...policy(),
    description: '',
    priority: 0,
    is_active: true,
    conditions: [],
    revision: 1,
  });
  expect((await get(`/policies/${stored.id}`)).body).toEqual(stored);
  const again = await post('/policies', policy());
  expect([again.status, again.body.error.message]).toEqual([409, 'policy name already exists']);
});

it.each([
  [{ subjects: [] }, /^subjects: /],
  [{ actions: ['*'.repeat(5)] }, /^actions\[0\]: /],
  [{ conditions: [{ field: 'time', operator: 'time_after', value: 'noon' }] }, /^conditions\[0\]/],
  [
    { conditions: [{ field: 'context.ip', operator: 'ip_in_cidr', value: '10.0.0.0/99' }] },
    /^conditions\[0\]/,
  ],
  [{ conditions: [{ field: 'subject.name', operator: 'regex', value: '(' }] }, /^conditions\[0\]/],
  [{ effect: 'maybe' }, /^effect: /],
  [{ efect: 'deny' }, /^efect: unknown/],
])('refuses %j and names the place', async (change, message) => {
  const response = await authz.tenant().post('/policies', policy(change));
  expect(response.status).toBe(400);
  expect(response.body.error.message).toMatch(message);
});

describe('a change', () => {
  it('counts from the answer on: switched off, on, turned and deleted', async () => {
    const client = authz.tenant();
    const { id } = await client.create('/policies', policy());
    const allowed = async () => (await client.check('user:a', 'read', 'document:1')).allowed;
    expect(await allowed()).toBe(true);
    expect((await client.put(`/policies/${id}`, { is_active: false })).body).toMatchObject({
      is_active: false,
      revision: 2,
    });
    expect(await allowed()).toBe(false);
    await client.put(`/policies/${id}`, { is_active: true });
    expect(await allowed()).toBe(true);
    await client.put(`/policies/${id}`, { effect: 'deny' });
    expect((await client.check('user:a', 'read', 'document:1')).reason).toBe('denied by policy "Readers"');
    expect((await client.delete(`/policies/${id}`)).status).toBe(204);
    expect((await client.check('user:a', 'read', 'document:1')).sources).toEqual([]);
    expect((await client.get(`/policies/${id}`)).status).toBe(404);
  });

  it('is judged as a whole, and arrays replace', async () => {
    const { create, put } = authz.tenant();
    const { id } = await create('/policies', policy({ subjects: ['user:a', 'user:b'] }));
    expect((await put(`/policies/${id}`, { subjects: ['user:c'] })).body.subjects).toEqual(['user:c']);
    const bad = await put(`/policies/${id}`, { conditions: [{ field: 'x', operator: 'gt', value: 'a' }] });
    expect([bad.status, bad.body.error.message]).toEqual([400, expect.stringMatching(/^conditions\[0\]/)]);
  });
});

it('reads the circumstances of a check', async () => {
  const { create, check } = authz.tenant();
  await create(
    '/policies',
    policy({ conditions: [{ field: 'context.ip', operator: 'ip_in_cidr', value: '192.0.2.0/24' }] }),
  );
  expect((await check('user:a', 'read', 'document:1', { context: { ip: '192.0.2.7' } })).allowed).toBe(true);
  expect((await check('user:a', 'read', 'document:1', { context: { ip: '198.51.100.7' } })).allowed).toBe(
    false,
  );
});

it('is found by effect, by whether it is active, and by a part of its name', async () => {
  const { create, get } = authz.tenant();
  await create('/policies', policy({ name: 'A', effect: 'deny' }));
  await create('/policies', policy({ name: 'B', is_active: false }));
  await create('/policies', policy({ name: 'Bb' }));
  const names = async (query: string) => pluck((await get(`/policies?${query}`)).body, 'name').join();
  expect(await names('effect=deny')).toBe('A');
  expect(await names('is_active=false')).toBe('B');
  expect(await names('search=b')).toBe('Bb,B');
});

describe('what the policies of a tenant may take together', () => {
  const wildcards = (n: number) =>
    policy({
      name: `Wildcards ${n}`,
      subjects: Array.from({ length: 100 }, (_, at) => `user:u${n}-${at}*`),
      actions: Array.from({ length: 100 }, (_, at) => `a${n}-${at}*`),
      resources: Array.from({ length: 100 }, (_, at) => `document:d${n}-${at}*`),
    });

  it('is bounded in wildcards; what makes no more of them can still be changed', async () => {
    const client = authz.tenant();
    const first = await client.create('/policies', wildcards(0));
    // Simulates many more wildcards.
    await authz.server.db.sql`
      update authz.policies set wildcards = wildcards + 19600 where tenant_id = ${client.name}`;
    const refused = await client.post('/policies', wildcards(1));
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'limit reached: 20000 wildcards of policies',
    ]);
    await client.create('/policies', policy());
    expect((await client.put(`/policies/${first.id}`, { is_active: false })).status).toBe(200);
    // A rewritten policy is counted again.
    await client.create('/policies', wildcards(1));
  });

  it('is bounded in instructions of regular expressions', async () => {
    const client = authz.tenant();
    const conditions = Array.from({ length: 32 }, (_, n) => ({
      ...{ field: `x${n}`, operator: 'regex' },
      value: `[a-d].{400}x{${n + 1}}`,
    }));
    const statuses: number[] = [];
    for (let n = 0; n < 16; n++)
      statuses.push((await client.post('/policies', policy({ name: `p${n}`, conditions }))).status);
    expect([...new Set(statuses)]).toEqual([201, 409]);
    expect(statuses.indexOf(409)).toBe(Math.floor(200_000 / (32 * 405 + (32 * 33) / 2)));
  });
});

it('denies where a deny policy has a field to judge that is too long, and is not allowed by one', async () => {
  const client = authz.tenant();
  const conditions = [{ field: 'agent', operator: 'regex', value: '(?i)[a-z]{300}bot' }];
  await client.create('/policies', policy({ name: 'All' }));
  await client.create('/policies', policy({ name: 'No bots', effect: 'deny', conditions }));
  const asked = (agent: string) => client.check('user:a', 'read', 'document:1', { context: { agent } });
  expect((await asked('browser')).allowed).toBe(true);
  expect(await asked('b'.repeat(4_000))).toMatchObject({
    allowed: false,
    reason: 'evaluation limit reached: condition',
    sources: ['abac'],
  });
});
