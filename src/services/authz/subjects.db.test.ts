import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

it('lists what a subject holds by slug: assigned, by default, and inherited on request', async () => {
  const api = tools(server);
  const viewer = await api.role({ name: 'Viewer' });
  const editor = await api.role({ name: 'Editor', parent_id: viewer.id });
  const everybody = await api.role({ name: 'Everybody', is_default: true });
  const assignment = await api.assignment({
    ...{
      role_id: editor.id,
      subject_kind: 'user',
      subject_id: 'user-42',
      resource_type: 'project',
      resource_id: 'p1',
    },
  });
  const none = { assignment_id: null, resource_type: null, resource_id: null, expires_at: null };
  const assigned = {
    ...editor,
    via: 'assigned',
    assignment_id: assignment.id,
    resource_type: 'project',
    resource_id: 'p1',
  };

  expect(await api.send('GET', '/subjects/user/user-42/roles')).toEqual([
    { ...assigned, expires_at: null },
    { ...everybody, via: 'default', ...none },
  ]);
  expect(await api.send('GET', '/subjects/user/user-42/roles?inherited=true')).toEqual([
    { ...assigned, expires_at: null },
    { ...everybody, via: 'default', ...none },
    { ...viewer, via: 'inherited', ...none },
  ]);
  expect(await api.send('GET', '/subjects/service/user-42/roles')).toEqual([]);
});

it('lists only the roles that apply to a type or a resource', async () => {
  const api = tools(server);
  const scopes = [
    {},
    { resource_type: 'document' },
    { resource_type: 'document', resource_id: '1' },
    { resource_type: 'page' },
  ];
  for (const [n, scope] of scopes.entries()) {
    const role = await api.role({ name: `r${n}` });
    await api.assignment({ role_id: role.id, subject_kind: 'user', subject_id: 'u', ...scope });
  }
  const slugs = async (query: string) =>
    pluck(await api.send('GET', `/subjects/user/u/roles?${query}`), 'slug').join(' ');
  expect(await slugs('')).toBe('r0 r1 r2 r3');
  expect(await slugs('resource_type=document')).toBe('r0 r1');
  expect(await slugs('resource_type=document&resource_id=1')).toBe('r0 r1 r2');
  expect(await slugs('resource_type=document&resource_id=2')).toBe('r0 r1');
  expect((await api.refusal('GET', '/subjects/user/u/roles?resource_id=1'))[1]).toBe(
    'resource_type: required with resource_id',
  );
});

it('goes through all roles page by page', async () => {
  const api = tools(server);
  for (let n = 0; n < 5; n += 1) {
    const role = await api.role({ name: `r${n}` });
    await api.assignment({ role_id: role.id, subject_kind: 'user', subject_id: 'ä/b' });
  }
  const slugs: unknown[] = [];
  let query = 'limit=2';
  for (;;) {
    const response = await api.request('GET', `/subjects/user/${encodeURIComponent('ä/b')}/roles?${query}`);
    slugs.push(...pluck(response.body, 'slug'));
    const cursor = response.headers.get('x-next-cursor');
    if (cursor === null) break;
    query = `limit=2&cursor=${cursor}`;
  }
  expect(slugs).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
});
