import { describe, expect, it } from 'vitest';
import { authzServer, type Client, tuple } from './testing.ts';

const authz = authzServer();

const document = {
  name: 'document',
  relations: [
    { name: 'owner', subjects: ['user'] },
    { name: 'viewer', subjects: ['user', 'group#member'], expression: 'this + owner' },
  ],
  permissions: [{ name: 'read', expression: 'viewer' }],
};

it('is stored once under its name, which is fixed', async () => {
  const { create, post, put, get } = authz.tenant();
  const type = await create('/resource-types', document);
  expect(type).toMatchObject({ ...document, description: '', revision: 1 });
  expect((await get(`/resource-types/${type.id}`)).body).toEqual(type);
  const again = await post('/resource-types', document);
  expect([again.status, again.body.error.message]).toEqual([409, 'resource type already exists']);
  const renamed = await put(`/resource-types/${type.id}`, { name: 'page' });
  expect([renamed.status, renamed.body.error.message]).toEqual([400, 'name: cannot be changed']);
  expect((await put(`/resource-types/${type.id}`, type)).headers.get('x-revision')).toBe('1');
});

it.each([
  [{ permissions: [{ name: 'read', expression: 'reader' }] }, /^permissions\[0\]\.expression: /],
  [{ permissions: [{ name: 'owner', expression: 'viewer' }] }, /^permissions\[0\]\.name: /],
  [
    { permissions: [{ name: 'read', expression: 'viewer + owner & viewer' }] },
    /^permissions\[0\]\.expression: /,
  ],
  [{ permissions: [{ name: 'read', expression: 'viewer - read' }] }, /exclusion in a cycle: document#read/],
])('refuses %j and names the place', async (change, message) => {
  const response = await authz.tenant().post('/resource-types', { ...document, ...change });
  expect(response.status).toBe(400);
  expect(response.body.error.message).toMatch(message);
});

describe('with tuples', () => {
  async function withTuples(): Promise<{ client: Client; id: string }> {
    const client = authz.tenant();
    const { id } = await client.create('/resource-types', document);
    await client.create('/relations', tuple('document:1#viewer@group:eng#member'));
    await client.create('/relations', tuple('group:eng#member@user:a'));
    return { client, id };
  }

  it('keeps the relations that have some, and itself', async () => {
    const { client, id } = await withTuples();
    const removed = await client.put(`/resource-types/${id}`, {
      relations: [{ name: 'owner', subjects: ['user'] }],
      permissions: [{ name: 'read', expression: 'owner' }],
    });
    expect([removed.status, removed.body.error.message]).toEqual([409, 'relation "viewer" still has tuples']);
    const deleted = await client.delete(`/resource-types/${id}`);
    expect([deleted.status, deleted.body.error.message]).toEqual([409, 'relation "viewer" still has tuples']);

    await client.post('/relations/delete', tuple('document:1#viewer@group:eng#member'));
    expect((await client.delete(`/resource-types/${id}`)).status).toBe(204);
  });

  it('ignores those that its subjects name no more, until they name them again', async () => {
    const { client, id } = await withTuples();
    const allowed = async () => (await client.check('user:a', 'read', 'document:1')).allowed;
    const viewers = (subjects: string[]) =>
      client.put(`/resource-types/${id}`, {
        relations: [document.relations[0], { name: 'viewer', subjects, expression: 'this + owner' }],
      });
    expect(await allowed()).toBe(true);
    await viewers(['user']);
    expect(await allowed()).toBe(false);
    await viewers(['user', 'group#member']);
    expect(await allowed()).toBe(true);
  });
});
