import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

it('stores a permission under its pattern’s name, and once', async () => {
  const api = tools(server);
  const permission = await api.permission({ resource: 'document', action: 'read' });
  expect(permission).toMatchObject({
    name: 'document:read',
    resource: 'document',
    action: 'read',
    description: '',
  });
  expect(await api.send('GET', `/permissions/${permission.id}`)).toEqual(permission);
  expect(
    await api.refusal('POST', '/permissions', { body: { resource: 'document', action: 'read' } }),
  ).toEqual([409, 'permission name already exists']);
});

it('cuts the name it makes of long patterns', async () => {
  const permission = await tools(server).permission({ resource: 'd'.repeat(100), action: 'a'.repeat(100) });
  expect(permission.name).toBe(`${'d'.repeat(100)}:${'a'.repeat(27)}`);
});

it.each([
  [{ resource: 'a:b', action: 'read' }, 'resource'],
  [{ resource: '*****', action: 'read' }, 'resource'],
  [{ resource: 'document', action: '*'.repeat(5) }, 'action'],
  [{ resource: 'document' }, 'action'],
])('refuses %j and names the field', async (body, field) => {
  const [status, error] = await tools(server).refusal('POST', '/permissions', { body });
  expect(status).toBe(400);
  expect(error).toMatch(new RegExp(`^${field}: `));
});

it('lists by exact patterns and by a part of the name', async () => {
  const api = tools(server);
  await api.permission({ resource: 'document', action: 'read', name: 'Read' });
  await api.permission({ resource: 'document', action: '*', name: 'Everything' });
  await api.permission({ resource: 'folder', action: 'read', name: 'Read folders' });
  const names = async (query: string) => pluck(await api.send('GET', `/permissions?${query}`), 'name');
  expect(await names('')).toEqual(['Read folders', 'Everything', 'Read']);
  expect(await names('resource=document')).toEqual(['Everything', 'Read']);
  expect(await names('action=read')).toEqual(['Read folders', 'Read']);
  expect(await names('search=rEAD&resource=folder')).toEqual(['Read folders']);
});

it('takes its grants away when it is deleted', async () => {
  const api = tools(server);
  const role = await api.role({ name: 'Viewer' });
  const permission = await api.permission({ resource: 'document', action: 'read' });
  await api.attach(role.id, permission.id);
  await api.assignment({ role_id: role.id, subject_kind: 'user', subject_id: 'u1' });
  expect((await api.check('user:u1', 'read', 'document:1')).allowed).toBe(true);
  expect((await api.request('DELETE', `/permissions/${permission.id}`)).status).toBe(204);
  expect((await api.check('user:u1', 'read', 'document:1')).allowed).toBe(false);
  expect(await api.send('GET', `/roles/${role.id}/permissions`)).toEqual([]);
  expect((await api.request('DELETE', `/permissions/${permission.id}`)).status).toBe(404);
});
