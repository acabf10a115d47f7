import { expect, it } from 'vitest';
import { authzServer, pluck } from './testing.ts';

const authz = authzServer();

it('stores a permission under its pattern’s name, and once', async () => {
  const { create, post, get } = authz.tenant();
  const permission = await create('/permissions', { resource: 'document', action: 'read' });
  expect(permission).toMatchObject({
    name: 'document:read',
    resource: 'document',
    action: 'read',
    description: '',
  });
  expect((await get(`/permissions/${permission.id}`)).body).toEqual(permission);
  const again = await post('/permissions', { resource: 'document', action: 'read' });
  expect([again.status, again.body.error.message]).toEqual([409, 'permission name already exists']);
});

it('cuts the name it makes of long patterns', async () => {
  const permission = await authz
    .tenant()
    .create('/permissions', { resource: 'd'.repeat(100), action: 'a'.repeat(100) });
  expect(permission.name).toBe(`${'d'.repeat(100)}:${'a'.repeat(27)}`);
});

it.each([
  [{ resource: 'a:b', action: 'read' }, 'resource'],
  [{ resource: '*****', action: 'read' }, 'resource'],
  [{ resource: 'document', action: '*'.repeat(5) }, 'action'],
  [{ resource: 'document' }, 'action'],
])('refuses %j and names the field', async (body, field) => {
  const response = await authz.tenant().post('/permissions', body);
  expect(response.status).toBe(400);
  expect(response.body.error.message).toMatch(new RegExp(`^${field}: `));
});

it('lists by exact patterns and by a part of the name', async () => {
  const { create, get } = authz.tenant();
  await create('/permissions', { resource: 'document', action: 'read', name: 'Read' });
  await create('/permissions', { resource: 'document', action: '*', name: 'Everything' });
  await create('/permissions', { resource: 'folder', action: 'read', name: 'Read folders' });
  const names = async (query: string) => pluck((await get(`/permissions?${query}`)).body, 'name');
  expect(await names('')).toEqual(['Read folders', 'Everything', 'Read']);
  expect(await names('resource=document')).toEqual(['Everything', 'Read']);
  expect(await names('action=read')).toEqual(['Read folders', 'Read']);
  expect(await names('search=rEAD&resource=folder')).toEqual(['Read folders']);
});

it('takes its grants away when it is deleted', async () => {
  const client = authz.tenant();
  const role = await client.create('/roles', { name: 'Viewer' });
  const permission = await client.create('/permissions', { resource: 'document', action: 'read' });
  await client.create(`/roles/${role.id}/permissions`, { permission_id: permission.id });
  await client.create('/assignments', { role_id: role.id, subject_kind: 'user', subject_id: 'u1' });
  expect((await client.check('user:u1', 'read', 'document:1')).allowed).toBe(true);
  expect((await client.delete(`/permissions/${permission.id}`)).status).toBe(204);
  expect((await client.check('user:u1', 'read', 'document:1')).allowed).toBe(false);
  expect((await client.get(`/roles/${role.id}/permissions`)).body).toEqual([]);
  expect((await client.delete(`/permissions/${permission.id}`)).status).toBe(404);
});
