import { expect, it } from 'vitest';
import { authzServer, pluck } from './testing.ts';

const authz = authzServer();

it('lists what a subject holds by slug: assigned, by default, and inherited on request', async () => {
  const { create, get } = authz.tenant();
  const viewer = await create('/roles', { name: 'Viewer' });
  const editor = await create('/roles', { name: 'Editor', parent_id: viewer.id });
  const everybody = await create('/roles', { name: 'Everybody', is_default: true });
  const assignment = await create('/assignments', {
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

  expect((await get('/subjects/user/user-42/roles')).body).toEqual([
    { ...assigned, expires_at: null },
    { ...everybody, via: 'default', ...none },
  ]);
  expect((await get('/subjects/user/user-42/roles?inherited=true')).body).toEqual([
    { ...assigned, expires_at: null },
    { ...everybody, via: 'default', ...none },
    { ...viewer, via: 'inherited', ...none },
  ]);
  expect((await get('/subjects/service/user-42/roles')).body).toEqual([]);
});

it('lists only the roles that apply to a type or a resource', async () => {
  const { create, get } = authz.tenant();
  const scopes = [
    {},
    { resource_type: 'document' },
    { resource_type: 'document', resource_id: '1' },
    { resource_type: 'page' },
  ];
  for (const [n, scope] of scopes.entries()) {
    const role = await create('/roles', { name: `r${n}` });
    await create('/assignments', { role_id: role.id, subject_kind: 'user', subject_id: 'u', ...scope });
  }
  const slugs = async (query: string) =>
    pluck((await get(`/subjects/user/u/roles?${query}`)).body, 'slug').join(' ');
  expect(await slugs('')).toBe('r0 r1 r2 r3');
  expect(await slugs('resource_type=document')).toBe('r0 r1');
  expect(await slugs('resource_type=document&resource_id=1')).toBe('r0 r1 r2');
  expect(await slugs('resource_type=document&resource_id=2')).toBe('r0 r1');
  expect((await get('/subjects/user/u/roles?resource_id=1')).body.error.message).toBe(
    'resource_type: required with resource_id',
  );
});

it('goes through all roles page by page', async () => {
  const { create, get } = authz.tenant();
  for (let n = 0; n < 5; n += 1) {
    const role = await create('/roles', { name: `r${n}` });
    await create('/assignments', { role_id: role.id, subject_kind: 'user', subject_id: 'ä/b' });
  }
  const slugs: unknown[] = [];
  let query = 'limit=2';
  for (;;) {
    const response = await get(`/subjects/user/${encodeURIComponent('ä/b')}/roles?${query}`);
    slugs.push(...pluck(response.body, 'slug'));
    const cursor = response.headers.get('x-next-cursor');
    if (cursor === null) break;
    query = `limit=2&cursor=${cursor}`;
  }
  expect(slugs).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
});
