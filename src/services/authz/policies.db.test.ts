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
