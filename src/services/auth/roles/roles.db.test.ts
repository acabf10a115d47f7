import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Permission, Role } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools } from '../testing/admin.ts';
import { newSlug } from '../testing/index.ts';

const absent = 'arole_01m7w6qgepfq9s8v8jbffcqvb8';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

const permit = (role: Pick<Role, 'id'>, resource: string, action: string): Promise<Permission> =>
  api.send('POST', `/roles/${role.id}/permissions`, { body: { resource, action } });
const assign = (role: Pick<Role, 'id'>, user_id: string, more: object = {}) =>
  api.send('POST', `/roles/${role.id}/assign`, { body: { user_id, ...more } });
const systemRole = async (slug: string): Promise<Role> => {
  const { roles } = (await api.send('GET', '/roles?limit=200')) as { roles: Role[] };
  return roles.find((role) => role.slug === slug)!;
};

describe('create', () => {
  it('fills in what is absent', async () => {
    const slug = newSlug();
    const role = await api.send('POST', '/roles', { body: { name: '  Editor ', slug } });
    expect(role).toEqual({
      id: expect.stringMatching(/^arole_/),
      app_id: 'default',
      name: 'Editor',
      slug,
      description: '',
      parent_id: null,
      system: false,
      created_at: expect.any(String),
      updated_at: role.created_at,
    });
    expect(await api.send('GET', `/roles/${role.id}`)).toEqual(role);
  });

  it('takes a parent and a description, and is no copy of what was read', async () => {
    const parent = await api.role();
    const role = await api.role({ description: 'May edit', parent_id: parent.id });
    expect(role).toMatchObject({ description: 'May edit', parent_id: parent.id });
    const again = { ...role, slug: newSlug() };
    expect(await api.refusal('POST', '/roles', { body: again })).toEqual([
      400,
      'created_at: is set by the server, leave it out',
    ]);
  });

  it.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: ' ' }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: 'x'.repeat(129) }],
    ['slug', { slug: 'Not A Slug' }],
    ['slug', { slug: 'x'.repeat(64) }],
    ['description', { description: 'x'.repeat(501) }],
    ['description', { description: '\ud800' }],
    ['parent_id', { parent_id: 'role_1' }],
    ['parent_id', { parent_id: absent }],
    ['nmae', { nmae: 'x' }],
  ])('400 names %s: %j', async (field, body) => {
    const refused = await api.refusal('POST', '/roles', { body: { name: 'Role', slug: newSlug(), ...body } });
    expect(refused).toEqual([400, expect.stringContaining(field)]);
  });

  it('of thirty at once with one slug, one succeeds', async () => {
    const body = { name: 'Same', slug: newSlug() };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => server.request('POST', '/auth/v1/auth/roles', { body })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409).map((answer) => answer.body)).toEqual(
      Array(29).fill({ error: 'slug already taken', code: 'CONFLICT' }),
    );
  });

  it('404 when root names an app that is not there', async () => {
    const refused = await api.refusal('POST', '/roles', {
      body: { name: 'Role', slug: newSlug(), app_id: 'nowhere' },
    });
    expect(refused).toEqual([404, 'app not found']);
    expect(await api.refusal('GET', '/roles?app_id=nowhere')).toEqual([404, 'app not found']);
  });
});

describe('list', () => {
  it('answers the roles of the app, newest first, page by page', async () => {
    const { id: app_id } = await api.app();
    for (const slug of ['a', 'b', 'c']) await api.role({ slug, app_id });
    const slugs = (body: { roles: Role[] }) => body.roles.map(({ slug }) => slug);
    const first = await server.request('GET', `/auth/v1/auth/roles?app_id=${app_id}&limit=2`);
    const cursor = first.headers.get('x-next-cursor');
    const rest = await server.request(
      'GET',
      `/auth/v1/auth/roles?app_id=${app_id}&limit=10&cursor=${cursor}`,
    );
    expect(slugs(first.body)).toEqual(['c', 'b']);
    expect(slugs(rest.body).slice(0, 1)).toEqual(['a']);
    expect(slugs(rest.body).slice(1).sort()).toEqual(['admin', 'user']);
    expect(rest.headers.get('x-next-cursor')).toBeNull();
  });
});

describe('update', () => {
  it('changes what is present and keeps the rest; what was read can be written back', async () => {
    const role = await api.role({ description: 'old' });
    const update = (body: object) => api.send('PATCH', `/roles/${role.id}`, { body });
    expect(await update(role)).toEqual(role);
    const changed = await update({ name: 'New' });
    expect(changed).toEqual({ ...role, name: 'New', updated_at: changed.updated_at });
    const parent = await api.role();
    expect((await update({ parent_id: parent.id })).parent_id).toBe(parent.id);
    expect((await update({ parent_id: null })).parent_id).toBeNull();
  });

  it.each<[string, object]>([
    ['slug', { slug: 'other' }],
    ['app_id', { app_id: 'other' }],
    ['name', { name: ' ' }],
    ['parent_id', { parent_id: absent }],
  ])('400 names %s: %j', async (field, body) => {
    const { id } = await api.role();
    const refused = await api.refusal('PATCH', `/roles/${id}`, { body });
    expect(refused).toEqual([400, expect.stringContaining(`${field}: `)]);
  });
});

describe('inheritance', () => {
  it('a cycle is refused, also a long one', async () => {
    const first = await api.role();
    const second = await api.role({ parent_id: first.id });
    const third = await api.role({ parent_id: second.id });
    for (const parent_id of [first.id, second.id, third.id])
      expect(await api.refusal('PATCH', `/roles/${first.id}`, { body: { parent_id } })).toEqual([
        400,
        'parent_id: cycle',
        'role_cycle',
      ]);
  });

  it('has at most 8 ancestors, counted from the lowest heir', async () => {
    let role = await api.role();
    const highest = role;
    for (let above = 1; above <= 8; above++) role = await api.role({ parent_id: role.id });
    const tooMany = [400, 'parent_id: more than 8 ancestors'];
    const body = { name: 'Ninth', slug: newSlug(), parent_id: role.id };
    expect(await api.refusal('POST', '/roles', { body })).toEqual(tooMany);
    const top = await api.role();
    expect(await api.refusal('PATCH', `/roles/${highest.id}`, { body: { parent_id: top.id } })).toEqual(
      tooMany,
    );

    await permit(highest, 'documents', 'read');
    const session = await api.signedIn();
    await assign(role, session.user.id);
    expect(await api.scopesOf(session)).toContain('documents:read');
  });

  it('of two that together were a cycle, one is refused', async () => {
    const pairs = await Promise.all(
      Array.from({ length: 10 }, async () => [await api.role(), await api.role()] as const),
    );
    for (const [one, other] of pairs) {
      const statuses = await Promise.all(
        [
          [one, other],
          [other, one],
        ].map(async ([role, parent]) => {
          const body = { parent_id: parent!.id };
          return (await server.request('PATCH', `/auth/v1/auth/roles/${role!.id}`, { body })).status;
        }),
      );
      expect(statuses.sort()).toEqual([200, 400]);
    }
  });
});

describe('delete', () => {
  it('takes permissions and assignments along; children lose their parent', async () => {
    const role = await api.role();
    const child = await api.role({ parent_id: role.id });
    await permit(role, 'documents', 'read');
    const session = await api.signedIn();
    await assign(child, session.user.id);
    expect(await api.scopesOf(session)).toEqual(['documents:read']);
    expect(await api.send('DELETE', `/roles/${role.id}`)).toEqual({ status: 'deleted' });
    expect(await api.scopesOf(session)).toEqual([]);
    expect((await api.send('GET', `/roles/${child.id}`)).parent_id).toBeNull();
    expect(await api.refusal('DELETE', `/roles/${role.id}`)).toEqual([404, 'role not found']);
  });

  it('409 for the roles of the system, and for the default role of the app', async () => {
    for (const slug of ['user', 'admin']) {
      const { id } = await systemRole(slug);
      expect(await api.refusal('DELETE', `/roles/${id}`)).toEqual([409, 'system role']);
      expect(await api.refusal('PATCH', `/roles/${id}`, { body: { name: 'Mine' } })).toEqual([
        409,
        'system role',
      ]);
    }
    const app = await api.app();
    const role = await api.role({ app_id: app.id });
    const headers = { 'X-App-ID': app.id };
    await api.send('PATCH', `/apps/${app.id}`, { body: { settings: { default_role: role.slug } } });
    expect(await api.refusal('DELETE', `/roles/${role.id}`, { headers })).toEqual([
      409,
      'role is the default role of the app',
    ]);
  });
});
