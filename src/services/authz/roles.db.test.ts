import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

describe('create', () => {
  it('stores the role with its defaults and answers the revision', async () => {
    const api = tools(server);
    const response = await api.request('POST', '/roles', { body: { name: 'Editor' } });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-revision')).toBe('1');
    expect(response.body).toMatchObject({
      ...{
        tenant_id: api.tenant,
        app_id: 'default',
        name: 'Editor',
        slug: 'editor',
        description: '',
        parent_id: null,
      },
      ...{ is_system: false, is_default: false, metadata: {}, revision: 1 },
    });
    expect(await api.send('GET', `/roles/${response.body.id}`)).toEqual(response.body);
  });

  it.each([
    ['Billing & Invoices!', 'billing-invoices'],
    ['  Ärzte 2 ', 'rzte-2'],
    ['x'.repeat(100), 'x'.repeat(63)],
  ])('makes the slug of %j', async (name, slug) => {
    expect((await tools(server).role({ name })).slug).toBe(slug);
  });

  it('takes the suffix of the id where the name gives no slug', async () => {
    const role = await tools(server).role({ name: '??' });
    expect(role.id).toBe(`role_${role.slug}`);
  });

  it('refuses a slug that the tenant has, and no other tenant’s', async () => {
    const api = tools(server);
    await api.role({ name: 'Editor' });
    expect(await api.refusal('POST', '/roles', { body: { name: 'Editor' } })).toEqual([
      409,
      'role slug already exists',
    ]);
    await tools(server).role({ name: 'Editor' });
  });

  it('refuses a parent that is not there', async () => {
    expect(
      await tools(server).refusal('POST', '/roles', {
        body: { name: 'A', parent_id: 'role_01m7w4n5e0f7drekxj50y51wjg' },
      }),
    ).toEqual([404, 'role not found']);
  });
});

describe('update', () => {
  it('changes what is present, clears what is null and keeps the rest', async () => {
    const api = tools(server);
    const viewer = await api.role({ name: 'Viewer' });
    const editor = await api.role({
      name: 'Editor',
      parent_id: viewer.id,
      metadata: { tier: 'premium' },
    });
    expect(
      await api.send('PUT', `/roles/${editor.id}`, { body: { parent_id: null, description: 'Writes' } }),
    ).toMatchObject({
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
    const api = tools(server);
    const role = await api.role({
      name: 'Editor',
      description: 'Writes',
      metadata: { tier: 'gold' },
    });
    expect(
      await api.send('PUT', `/roles/${role.id}`, { body: { description: null, metadata: null } }),
    ).toMatchObject({ name: 'Editor', description: '', metadata: {} });
    expect((await api.refusal('PUT', `/roles/${role.id}`, { body: { name: null } }))[1]).toMatch(/^name: /);
  });

  it('takes back what was read, and raises no revision where nothing changed', async () => {
    const api = tools(server);
    const role = await api.role({ name: 'Editor' });
    const response = await api.request('PUT', `/roles/${role.id}`, { body: role });
    expect([response.status, response.body, response.headers.get('x-revision')]).toEqual([200, role, '1']);
  });

  it('refuses another slug', async () => {
    const api = tools(server);
    const role = await api.role({ name: 'Editor' });
    expect(await api.refusal('PUT', `/roles/${role.id}`, { body: { slug: 'writer' } })).toEqual([
      400,
      'slug: cannot be changed',
    ]);
  });
});

describe('inheritance', () => {
  it('goes through 16 roles, and a 17th is refused', async () => {
    const api = tools(server);
    const permission = await api.permission({ resource: 'document', action: 'read' });
    let parent = await api.role({ name: 'r1' });
    await api.attach(parent.id, permission.id);
    for (let n = 2; n <= 16; n += 1) parent = await api.role({ name: `r${n}`, parent_id: parent.id });
    await api.assignment({ role_id: parent.id, subject_kind: 'user', subject_id: 'u1' });
    expect(await api.check('user:u1', 'read', 'document:1')).toMatchObject({
      allowed: true,
      reason: 'role "r16" (inherited from "r1") grants "document:read"',
    });
    expect(await api.refusal('POST', '/roles', { body: { name: 'r17', parent_id: parent.id } })).toEqual([
      400,
      'parent_id: chain longer than 16',
    ]);
  });

  it('refuses a cycle, also one of two updates at once', async () => {
    const api = tools(server);
    const a = await api.role({ name: 'A' });
    const b = await api.role({ name: 'B' });
    const responses = await Promise.all([
      api.request('PUT', `/roles/${a.id}`, { body: { parent_id: b.id } }),
      api.request('PUT', `/roles/${b.id}`, { body: { parent_id: a.id } }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
    const refused = responses.find(({ status }) => status === 400);
    expect(refused?.body.error.message).toBe('parent_id: cycle');
    const parents = await Promise.all([
      api.request('GET', `/roles/${a.id}`),
      api.request('GET', `/roles/${b.id}`),
    ]);
    expect(parents.filter(({ body }) => body.parent_id !== null)).toHaveLength(1);
  });
});

describe('default roles', () => {
  it('are held by users and by no other kind', async () => {
    const api = tools(server);
    const role = await api.role({ name: 'Everybody', is_default: true });
    const permission = await api.permission({ resource: 'page', action: 'read' });
    await api.attach(role.id, permission.id);
    expect((await api.check('user:anyone', 'read', 'page:1')).allowed).toBe(true);
    expect((await api.check('service:anyone', 'read', 'page:1')).allowed).toBe(false);
  });
});

describe('delete', () => {
  it('is refused while other roles inherit', async () => {
    const api = tools(server);
    const parent = await api.role({ name: 'Viewer' });
    await api.role({ name: 'Editor', parent_id: parent.id });
    expect(await api.refusal('DELETE', `/roles/${parent.id}`)).toEqual([
      409,
      'role is the parent of other roles',
    ]);
  });

  it('takes the attachments along', async () => {
    const api = tools(server);
    const role = await api.role({ name: 'Viewer' });
    const permission = await api.permission({ resource: 'document', action: 'read' });
    await api.attach(role.id, permission.id);
    expect((await api.request('DELETE', `/roles/${role.id}`)).status).toBe(204);
    expect((await api.request('GET', `/roles/${role.id}`)).status).toBe(404);
    const rows = await server.db.sql`
      select 1 from authz.role_permissions where tenant_id = ${api.tenant}`;
    expect(rows).toHaveLength(0);
  });
});

describe('permissions of a role', () => {
  it('are attached once, listed with the inherited ones on request, and detached', async () => {
    const api = tools(server);
    const viewer = await api.role({ name: 'Viewer' });
    const editor = await api.role({ name: 'Editor', parent_id: viewer.id });
    const read = await api.permission({ resource: 'document', action: 'read' });
    const write = await api.permission({ resource: 'document', action: 'write' });
    await api.attach(viewer.id, read.id);
    expect(await api.attach(editor.id, write.id)).toEqual(write);

    expect(
      await api.refusal('POST', `/roles/${editor.id}/permissions`, { body: { permission_id: write.id } }),
    ).toEqual([409, 'permission already attached']);
    expect(await api.send('GET', `/roles/${editor.id}/permissions`)).toEqual([write]);
    expect(await api.send('GET', `/roles/${editor.id}/permissions?inherited=true`)).toEqual([write, read]);

    expect((await api.request('DELETE', `/roles/${editor.id}/permissions/${write.id}`)).status).toBe(204);
    expect(await api.refusal('DELETE', `/roles/${editor.id}/permissions/${write.id}`)).toEqual([
      404,
      'permission not found',
    ]);
  });
});

it('finds roles by a part of the name or the slug, whatever the case', async () => {
  const api = tools(server);
  await api.role({ name: 'Document Editor', slug: 'doc.w' });
  await api.role({ name: 'Viewer', slug: 'doc.r' });
  expect(pluck(await api.send('GET', '/roles?search=EDIT'), 'slug')).toEqual(['doc.w']);
  expect(await api.send('GET', '/roles?search=DOC.')).toHaveLength(2);
  expect(await api.send('GET', '/roles?search=%25')).toHaveLength(0);
});
