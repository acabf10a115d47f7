import { describe, expect, it } from 'vitest';
import { authzServer, pluck } from './testing.ts';

const authz = authzServer();

describe('create', () => {
  it('stores the role with its defaults and answers the revision', async () => {
    const { post, get, name } = authz.tenant();
    const response = await post('/roles', { name: 'Editor' });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-revision')).toBe('1');
    expect(response.body).toMatchObject({
      ...{
        tenant_id: name,
        app_id: 'default',
        name: 'Editor',
        slug: 'editor',
        description: '',
        parent_id: null,
      },
      ...{ is_system: false, is_default: false, metadata: {}, revision: 1 },
    });
    expect((await get(`/roles/${response.body.id}`)).body).toEqual(response.body);
  });

  it.each([
    ['Billing & Invoices!', 'billing-invoices'],
    ['  Ärzte 2 ', 'rzte-2'],
    ['x'.repeat(100), 'x'.repeat(63)],
  ])('makes the slug of %j', async (name, slug) => {
    expect((await authz.tenant().create('/roles', { name })).slug).toBe(slug);
  });

  it('takes the suffix of the id where the name gives no slug', async () => {
    const role = await authz.tenant().create('/roles', { name: '??' });
    expect(role.id).toBe(`role_${role.slug}`);
  });

  it('refuses a slug that the tenant has, and no other tenant’s', async () => {
    const { create, post } = authz.tenant();
    await create('/roles', { name: 'Editor' });
    const second = await post('/roles', { name: 'Editor' });
    expect([second.status, second.body.error.message]).toEqual([409, 'role slug already exists']);
    await authz.tenant().create('/roles', { name: 'Editor' });
  });

  it('refuses a parent that is not there', async () => {
    const response = await authz
      .tenant()
      .post('/roles', { name: 'A', parent_id: 'role_01m7w4n5e0f7drekxj50y51wjg' });
    expect([response.status, response.body.error.message]).toEqual([404, 'role not found']);
  });
});

describe('update', () => {
  it('changes what is present, clears what is null and keeps the rest', async () => {
    const { create, put } = authz.tenant();
    const viewer = await create('/roles', { name: 'Viewer' });
    const editor = await create('/roles', {
      name: 'Editor',
      parent_id: viewer.id,
      metadata: { tier: 'premium' },
    });
    const response = await put(`/roles/${editor.id}`, { parent_id: null, description: 'Writes' });
    expect(response.body).toMatchObject({
      ...{
        name: 'Editor',
        parent_id: null,
        description: 'Writes',
        metadata: { tier: 'premium' },
        revision: 3,
      },
    });
  });

  it('gives the default back for null where there is one', async () => {
    const { create, put } = authz.tenant();
    const role = await create('/roles', {
      name: 'Editor',
      description: 'Writes',
      metadata: { tier: 'gold' },
    });
    const response = await put(`/roles/${role.id}`, { description: null, metadata: null });
    expect(response.body).toMatchObject({ name: 'Editor', description: '', metadata: {} });
    expect((await put(`/roles/${role.id}`, { name: null })).body.error.message).toMatch(/^name: /);
  });

  it('takes back what was read, and raises no revision where nothing changed', async () => {
    const { create, put } = authz.tenant();
    const role = await create('/roles', { name: 'Editor' });
    const response = await put(`/roles/${role.id}`, role);
    expect([response.status, response.body, response.headers.get('x-revision')]).toEqual([200, role, '1']);
  });

  it('refuses another slug', async () => {
    const { create, put } = authz.tenant();
    const role = await create('/roles', { name: 'Editor' });
    const response = await put(`/roles/${role.id}`, { slug: 'writer' });
    expect([response.status, response.body.error.message]).toEqual([400, 'slug: cannot be changed']);
  });
});

describe('inheritance', () => {
  it('goes through 16 roles, and a 17th is refused', async () => {
    const { create, post, check } = authz.tenant();
    const permission = await create('/permissions', { resource: 'document', action: 'read' });
    let parent = await create('/roles', { name: 'r1' });
    await post(`/roles/${parent.id}/permissions`, { permission_id: permission.id });
    for (let n = 2; n <= 16; n += 1) parent = await create('/roles', { name: `r${n}`, parent_id: parent.id });
    await create('/assignments', { role_id: parent.id, subject_kind: 'user', subject_id: 'u1' });
    expect(await check('user:u1', 'read', 'document:1')).toMatchObject({
      allowed: true,
      reason: 'role "r16" (inherited from "r1") grants "document:read"',
    });
    const seventeenth = await post('/roles', { name: 'r17', parent_id: parent.id });
    expect([seventeenth.status, seventeenth.body.error.message]).toEqual([
      400,
      'parent_id: chain longer than 16',
    ]);
  });

  it('refuses a cycle, also one of two updates at once', async () => {
    const { create, put, get } = authz.tenant();
    const a = await create('/roles', { name: 'A' });
    const b = await create('/roles', { name: 'B' });
    const responses = await Promise.all([
      put(`/roles/${a.id}`, { parent_id: b.id }),
      put(`/roles/${b.id}`, { parent_id: a.id }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
    const refused = responses.find(({ status }) => status === 400);
    expect(refused?.body.error.message).toBe('parent_id: cycle');
    const parents = await Promise.all([get(`/roles/${a.id}`), get(`/roles/${b.id}`)]);
    expect(parents.filter(({ body }) => body.parent_id !== null)).toHaveLength(1);
  });
});

describe('default roles', () => {
  it('are held by users and by no other kind', async () => {
    const { create, post, check } = authz.tenant();
    const role = await create('/roles', { name: 'Everybody', is_default: true });
    const permission = await create('/permissions', { resource: 'page', action: 'read' });
    await post(`/roles/${role.id}/permissions`, { permission_id: permission.id });
    expect((await check('user:anyone', 'read', 'page:1')).allowed).toBe(true);
    expect((await check('service:anyone', 'read', 'page:1')).allowed).toBe(false);
  });
});

describe('delete', () => {
  it('is refused while other roles inherit', async () => {
    const client = authz.tenant();
    const parent = await client.create('/roles', { name: 'Viewer' });
    await client.create('/roles', { name: 'Editor', parent_id: parent.id });
    const response = await client.delete(`/roles/${parent.id}`);
    expect([response.status, response.body.error.message]).toEqual([
      409,
      'role is the parent of other roles',
    ]);
  });

  it('takes the attachments along', async () => {
    const client = authz.tenant();
    const role = await client.create('/roles', { name: 'Viewer' });
    const permission = await client.create('/permissions', { resource: 'document', action: 'read' });
    await client.post(`/roles/${role.id}/permissions`, { permission_id: permission.id });
    expect((await client.delete(`/roles/${role.id}`)).status).toBe(204);
    expect((await client.get(`/roles/${role.id}`)).status).toBe(404);
    const rows = await authz.server.db.sql`
      select 1 from authz.role_permissions where tenant_id = ${client.name}`;
    expect(rows).toHaveLength(0);
  });
});

describe('permissions of a role', () => {
  it('are attached once, listed with the inherited ones on request, and detached', async () => {
    const client = authz.tenant();
    const viewer = await client.create('/roles', { name: 'Viewer' });
    const editor = await client.create('/roles', { name: 'Editor', parent_id: viewer.id });
    const read = await client.create('/permissions', { resource: 'document', action: 'read' });
    const write = await client.create('/permissions', { resource: 'document', action: 'write' });
    await client.create(`/roles/${viewer.id}/permissions`, { permission_id: read.id });
    expect(await client.create(`/roles/${editor.id}/permissions`, { permission_id: write.id })).toEqual(
      write,
    );

    const again = await client.post(`/roles/${editor.id}/permissions`, { permission_id: write.id });
    expect([again.status, again.body.error.message]).toEqual([409, 'permission already attached']);
    expect((await client.get(`/roles/${editor.id}/permissions`)).body).toEqual([write]);
    expect((await client.get(`/roles/${editor.id}/permissions?inherited=true`)).body).toEqual([write, read]);

    expect((await client.delete(`/roles/${editor.id}/permissions/${write.id}`)).status).toBe(204);
    const absent = await client.delete(`/roles/${editor.id}/permissions/${write.id}`);
    expect([absent.status, absent.body.error.message]).toEqual([404, 'permission not found']);
  });
});

it('finds roles by a part of the name or the slug, whatever the case', async () => {
  const { create, get } = authz.tenant();
  await create('/roles', { name: 'Document Editor', slug: 'doc.w' });
  await create('/roles', { name: 'Viewer', slug: 'doc.r' });
  expect(pluck((await get('/roles?search=EDIT')).body, 'slug')).toEqual(['doc.w']);
  expect((await get('/roles?search=DOC.')).body).toHaveLength(2);
  expect((await get('/roles?search=%25')).body).toHaveLength(0);
});
