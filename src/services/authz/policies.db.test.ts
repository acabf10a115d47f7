import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

const policy = (more: object = {}) => ({
  ...{ name: 'Readers', effect: 'allow', subjects: ['user:*'], actions: ['read'], resources: ['document:*'] },
  ...more,
});

it('is stored with its defaults, once under its name', async () => {
  const api = tools(server);
  const stored = await api.policy(policy());
  expect(stored).toMatchObject({
    ...policy(),
    description: '',
    priority: 0,
    is_active: true,
    conditions: [],
    revision: 1,
  });
  expect(await api.send('GET', `/policies/${stored.id}`)).toEqual(stored);
  expect(await api.refusal('POST', '/policies', { body: policy() })).toEqual([
    409,
    'policy name already exists',
  ]);
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
  const [status, error] = await tools(server).refusal('POST', '/policies', { body: policy(change) });
  expect(status).toBe(400);
  expect(error).toMatch(message);
});

describe('a change', () => {
  it('counts from the answer on: switched off, on, turned and deleted', async () => {
    const api = tools(server);
    const { id } = await api.policy(policy());
    const allowed = async () => (await api.check('user:a', 'read', 'document:1')).allowed;
    expect(await allowed()).toBe(true);
    expect(await api.send('PUT', `/policies/${id}`, { body: { is_active: false } })).toMatchObject({
      is_active: false,
      revision: 2,
    });
    expect(await allowed()).toBe(false);
    await api.send('PUT', `/policies/${id}`, { body: { is_active: true } });
    expect(await allowed()).toBe(true);
    await api.send('PUT', `/policies/${id}`, { body: { effect: 'deny' } });
    expect((await api.check('user:a', 'read', 'document:1')).reason).toBe('denied by policy "Readers"');
    expect((await api.request('DELETE', `/policies/${id}`)).status).toBe(204);
    expect((await api.check('user:a', 'read', 'document:1')).sources).toEqual([]);
    expect((await api.request('GET', `/policies/${id}`)).status).toBe(404);
  });

  it('is judged as a whole, and arrays replace', async () => {
    const api = tools(server);
    const { id } = await api.policy(policy({ subjects: ['user:a', 'user:b'] }));
    expect((await api.send('PUT', `/policies/${id}`, { body: { subjects: ['user:c'] } })).subjects).toEqual([
      'user:c',
    ]);
    expect(
      await api.refusal('PUT', `/policies/${id}`, {
        body: { conditions: [{ field: 'x', operator: 'gt', value: 'a' }] },
      }),
    ).toEqual([400, expect.stringMatching(/^conditions\[0\]/)]);
  });
});

it('reads the circumstances of a check', async () => {
  const api = tools(server);
  await api.policy(
    policy({ conditions: [{ field: 'context.ip', operator: 'ip_in_cidr', value: '192.0.2.0/24' }] }),
  );
  expect((await api.check('user:a', 'read', 'document:1', { context: { ip: '192.0.2.7' } })).allowed).toBe(
    true,
  );
  expect((await api.check('user:a', 'read', 'document:1', { context: { ip: '198.51.100.7' } })).allowed).toBe(
    false,
  );
});

it('is found by effect, by whether it is active, and by a part of its name', async () => {
  const api = tools(server);
  await api.policy(policy({ name: 'A', effect: 'deny' }));
  await api.policy(policy({ name: 'B', is_active: false }));
  await api.policy(policy({ name: 'Bb' }));
  const names = async (query: string) => pluck(await api.send('GET', `/policies?${query}`), 'name').join();
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
    const api = tools(server);
    const first = await api.policy(wildcards(0));
    // Simulates many more wildcards.
    await server.db.sql`
      update authz.policies set wildcards = wildcards + 19600 where tenant_id = ${api.tenant}`;
    expect(await api.refusal('POST', '/policies', { body: wildcards(1) })).toEqual([
      409,
      'limit reached: 20000 wildcards of policies',
    ]);
    await api.policy(policy());
    expect((await api.request('PUT', `/policies/${first.id}`, { body: { is_active: false } })).status).toBe(
      200,
    );
    // A rewritten policy is counted again.
    await api.policy(wildcards(1));
  });

  it('is bounded in instructions of regular expressions', async () => {
    const api = tools(server);
    const conditions = Array.from({ length: 32 }, (_, n) => ({
      ...{ field: `x${n}`, operator: 'regex' },
      value: `[a-d].{400}x{${n + 1}}`,
    }));
    const statuses: number[] = [];
    for (let n = 0; n < 16; n++)
      statuses.push(
        (await api.request('POST', '/policies', { body: policy({ name: `p${n}`, conditions }) })).status,
      );
    expect([...new Set(statuses)]).toEqual([201, 409]);
    expect(statuses.indexOf(409)).toBe(Math.floor(200_000 / (32 * 405 + (32 * 33) / 2)));
  });
});

it('denies where a deny policy has a field to judge that is too long, and is not allowed by one', async () => {
  const api = tools(server);
  const conditions = [{ field: 'agent', operator: 'regex', value: '(?i)[a-z]{300}bot' }];
  await api.policy(policy({ name: 'All' }));
  await api.policy(policy({ name: 'No bots', effect: 'deny', conditions }));
  const asked = (agent: string) => api.check('user:a', 'read', 'document:1', { context: { agent } });
  expect((await asked('browser')).allowed).toBe(true);
  expect(await asked('b'.repeat(4_000))).toMatchObject({
    allowed: false,
    reason: 'evaluation limit reached: condition',
    sources: ['abac'],
  });
});
