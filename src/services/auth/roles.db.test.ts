import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App, Permission, Role, UserRole } from '../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { adminTools } from './testing-admin.ts';
import { newSlug } from './testing.ts';

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

  it('takes what was read, all members of it', async () => {
    const parent = await api.role();
    const role = await api.role({ description: 'May edit', parent_id: parent.id });
    expect(role).toMatchObject({ description: 'May edit', parent_id: parent.id });
    const again = await api.role({ ...role, slug: newSlug(), system: true });
    expect(again).toMatchObject({ description: 'May edit', parent_id: parent.id, system: false });
    expect(again.id).not.toBe(role.id);
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

describe('permissions', () => {
  it('are scopes of the role, each once', async () => {
    const role = await api.role();
    const permission = await permit(role, 'documents', 'write');
    expect(permission).toEqual({
      id: expect.stringMatching(/^aperm_/),
      role_id: role.id,
      action: 'write',
      resource: 'documents',
      scope: 'documents:write',
      created_at: expect.any(String),
    });
    expect((await permit(role, '*', '*')).scope).toBe('*');
    const { permissions } = (await api.send('GET', `/roles/${role.id}/permissions`)) as {
      permissions: Permission[];
    };
    expect(permissions.map(({ scope }) => scope).sort()).toEqual(['*', 'documents:write']);
    const body = { resource: 'documents', action: 'write' };
    expect(await api.refusal('POST', `/roles/${role.id}/permissions`, { body })).toEqual([
      409,
      'permission already in the role',
    ]);
  });

  it('are at most 200, also when they come at once', async () => {
    const role = await api.role();
    await server.db.sql`
      insert into auth.permissions (id, tenant_id, role_id, action, resource)
      select ${role.id} || n, 'default', ${role.id}, 'act' || n, 'documents' from generate_series(1, 195) n`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        api.refusal('POST', `/roles/${role.id}/permissions`, {
          body: { resource: 'documents', action: `more${n}` },
        }),
      ),
    );
    expect(answers.filter(([status]) => status === 201)).toHaveLength(5);
    expect(answers.filter(([status]) => status !== 201)).toEqual(
      Array(15).fill([409, 'a role has at most 200 permissions']),
    );
  });

  it.each<[string, object]>([
    ['action', { action: '' }],
    ['action', { action: 'a:b' }],
    ['resource', { resource: 'a b' }],
    ['resource', { resource: '**' }],
    ['resource', { resource: 'x'.repeat(64) }],
  ])('400 names %s: %j', async (field, body) => {
    const { id } = await api.role();
    const refused = await api.refusal('POST', `/roles/${id}/permissions`, {
      body: { action: 'read', resource: 'documents', ...body },
    });
    expect(refused).toEqual([400, expect.stringContaining(field)]);
  });

  it('removed from a role, are gone from live sessions with the answer', async () => {
    const role = await api.role();
    const permission = await permit(role, 'auth', 'read');
    const { user, session_token: token } = await api.signedIn();
    const read = async () => (await server.request('GET', '/auth/v1/auth/roles', { token })).status;
    expect(await read()).toBe(403);
    await assign(role, user.id);
    expect(await read()).toBe(200);
    const path = `/roles/${role.id}/permissions/${permission.id}`;
    expect(await api.send('DELETE', path)).toEqual({ status: 'removed' });
    expect(await read()).toBe(403);
    expect(await api.refusal('DELETE', path)).toEqual([404, 'permission not found']);
    const noted = await server.db.sql`select id from auth.changes where kind = 'scope'`;
    expect(noted.map(({ id }) => id)).toContain('default auth:read');
  });

  it('of another role are not found', async () => {
    const [one, other] = [await api.role(), await api.role()];
    const { id } = await permit(one, 'documents', 'read');
    expect(await api.refusal('DELETE', `/roles/${other.id}/permissions/${id}`)).toEqual([
      404,
      'permission not found',
    ]);
  });
});

describe('assign and unassign', () => {
  it('give and take a role; a repeat is the same', async () => {
    const [role, user] = [await api.role(), await api.user()];
    for (const _ of [1, 2]) expect(await assign(role, user.id)).toEqual({ status: 'assigned' });
    const rolesOf = async () =>
      ((await api.send('GET', `/users/${user.id}/roles`)) as { roles: UserRole[] }).roles;
    expect(await rolesOf()).toEqual([{ ...role, org_id: null }, expect.objectContaining({ slug: 'user' })]);
    for (const _ of [1, 2])
      expect(await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: user.id } })).toEqual({
        status: 'unassigned',
      });
    expect((await rolesOf()).map(({ slug }) => slug)).toEqual(['user']);
    const events = await server.db.sql`
      select type from auth.outbox where subject = ${role.id} order by seq`;
    expect(events.map(({ type }) => type)).toEqual([
      'auth.role.created',
      'auth.role.assigned',
      'auth.role.unassigned',
    ]);
  });

  it('taken from a user, a role is gone from live sessions with the answer', async () => {
    const role = await api.role();
    await permit(role, 'auth', 'read');
    const { user, session_token: token } = await api.signedIn();
    const read = async () => (await server.request('GET', '/auth/v1/auth/roles', { token })).status;
    await assign(role, user.id);
    expect(await read()).toBe(200);
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: user.id } });
    expect(await read()).toBe(403);
    const noted = await server.db.sql`select from auth.changes where kind = 'user' and id = ${user.id}`;
    expect(noted).toHaveLength(2);
  });

  it('thirty at once are one assignment and one event', async () => {
    const [role, user] = [await api.role(), await api.user()];
    const answers = await Promise.all(Array.from({ length: 30 }, () => assign(role, user.id)));
    expect(answers).toEqual(Array(30).fill({ status: 'assigned' }));
    const [counts] = await server.db.sql`
      select
        (select count(*)::int from auth.assignments where role_id = ${role.id}) as rows,
        (select count(*)::int from auth.outbox where subject = ${role.id} and type = 'auth.role.assigned') as events`;
    expect(counts).toEqual({ rows: 1, events: 1 });
  });

  it('in an organization, a role counts while it is active; unassigning everywhere takes all', async () => {
    const role = await api.role();
    await permit(role, 'documents', 'read');
    const org = await api.organization();
    const session = await api.signedIn();
    await assign(role, session.user.id, { org_id: org });
    expect(await api.scopesOf(session)).toEqual([]);
    await server.db.sql`update auth.sessions set org_id = ${org} where user_id = ${session.user.id}`;
    expect(await api.scopesOf(session)).toEqual(['documents:read']);
    await assign(role, session.user.id);
    const unassign = (more: object) =>
      api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: session.user.id, ...more } });
    await unassign({ org_id: await api.organization() });
    expect(await api.scopesOf(session)).toEqual(['documents:read']);
    await unassign({});
    expect(await api.scopesOf(session)).toEqual([]);
  });

  it('404 for what is not of the app', async () => {
    const [role, user, elsewhere] = [await api.role(), await api.user(), await api.app()];
    const foreign = await api.user({ app_id: elsewhere.id });
    const foreignOrg = await api.organization({}, { app: elsewhere });
    const refused = (body: object) => api.refusal('POST', `/roles/${role.id}/assign`, { body });
    expect(await refused({ user_id: foreign.id })).toEqual([404, 'user not found']);
    expect(await refused({ user_id: user.id, org_id: foreignOrg })).toEqual([404, 'organization not found']);
    expect(
      await api.refusal('POST', `/roles/${role.id}/unassign`, { body: { user_id: foreign.id } }),
    ).toEqual([404, 'user not found']);
  });
});

describe('nobody gives what they do not hold', () => {
  const refusal = (scope: string) => [
    403,
    `cannot give ${scope}, which the caller does not hold`,
    'grant_exceeds_caller',
  ];

  it('by a permission', async () => {
    const writer = await api.holding('auth:write', 'billing:*');
    const role = await api.role();
    const add = (resource: string, action: string) =>
      api.refusal('POST', `/roles/${role.id}/permissions`, { token: writer, body: { resource, action } });
    expect(await add('auth', 'admin')).toEqual(refusal('auth:admin'));
    expect(await add('auth', '*')).toEqual(refusal('auth:*'));
    expect(await add('*', 'read')).toEqual(refusal('*:read'));
    expect(await add('*', '*')).toEqual(refusal('*'));
    expect(await add('auth', 'write')).toEqual([201, '']);
    expect(await add('billing', 'admin')).toEqual([201, '']);
    expect(await add('documents', '*')).toEqual([201, '']);
  });

  it('by an assignment, also of what the role inherits', async () => {
    const writer = await api.holding('auth:write');
    const parent = await api.role();
    await permit(parent, 'keys', 'write');
    const role = await api.role({ parent_id: parent.id });
    const { id: user_id } = await api.user();
    const give = (id: string) =>
      api.refusal('POST', `/roles/${id}/assign`, { token: writer, body: { user_id } });
    expect(await give(role.id)).toEqual(refusal('keys:write'));
    expect(await give((await systemRole('admin')).id)).toEqual(refusal('auth:*'));
    expect(await give((await systemRole('user')).id)).toEqual([200, '']);
  });

  it('by a parent, on creation and on change', async () => {
    const writer = await api.holding('auth:write');
    const admin = await systemRole('admin');
    const middle = await api.role({ parent_id: admin.id });
    const role = await api.role();
    for (const parent_id of [admin.id, middle.id]) {
      const body = { name: 'Heir', slug: newSlug(), parent_id };
      expect(await api.refusal('POST', '/roles', { token: writer, body })).toEqual(refusal('auth:*'));
      expect(await api.refusal('PATCH', `/roles/${role.id}`, { token: writer, body: { parent_id } })).toEqual(
        refusal('auth:*'),
      );
    }
  });

  it('by the default role of the app', async () => {
    const app = await api.app();
    const { user, session_token: administrator } = await api.signedIn({ app });
    await api.give(user, { app }, ['auth:admin']);
    const role = await api.role({ app_id: app.id });
    await api.send('POST', `/roles/${role.id}/permissions`, {
      headers: { 'X-App-ID': app.id },
      body: { resource: 'keys', action: 'write' },
    });
    const setDefault = (default_role: string) =>
      api.refusal('PATCH', `/apps/${app.id}`, { token: administrator, body: { settings: { default_role } } });
    expect(await setDefault(role.slug)).toEqual(refusal('keys:write'));
    expect(await setDefault('admin')).toEqual(refusal('auth:*'));
    expect(await setDefault('nothing')).toEqual([400, 'settings.default_role: no such role']);
  });

  it('by an address of somebody who holds more', async () => {
    const writer = await api.holding('auth:write');
    const boss = await api.user();
    await assign(await systemRole('admin'), boss.id);
    const update = (body: object) => api.refusal('PATCH', `/users/${boss.id}`, { token: writer, body });
    expect(await update({ email: 'thief@example.com' })).toEqual(refusal('auth:*'));
    expect(await update({ name: 'Boss' })).toEqual([200, '']);
  });
});

describe('who may', () => {
  const role = (id: string): [string, string, object?][] => [
    ['GET', `/roles/${id}`],
    ['PATCH', `/roles/${id}`, { name: 'x' }],
    ['DELETE', `/roles/${id}`],
    ['GET', `/roles/${id}/permissions`],
    ['POST', `/roles/${id}/permissions`, { resource: 'a', action: 'b' }],
    ['DELETE', `/roles/${id}/permissions/aperm_01m7w6qgepfq9s8v8vem8gxj10`],
    ['POST', `/roles/${id}/assign`, { user_id: 'user_01m7w6qgepfq9s8v7qdkvzwn91' }],
    ['POST', `/roles/${id}/unassign`, { user_id: 'user_01m7w6qgepfq9s8v7qdkvzwn91' }],
  ];

  it('401 without credentials, 403 without the scope', async () => {
    const nobody = (await api.signedIn()).session_token;
    const reader = await api.holding('auth:read');
    const { id } = await api.role();
    const all: [string, string, object?][] = [
      ...role(id),
      ['GET', '/roles'],
      ['POST', '/roles', { name: 'x', slug: 'x' }],
    ];
    for (const [method, path, body] of all) {
      const status = async (token: string | null) => (await api.refusal(method, path, { token, body }))[0];
      expect([method, path, await status(null)]).toEqual([method, path, 401]);
      expect([method, path, await status(nobody)]).toEqual([method, path, 403]);
      if (method !== 'GET') expect([method, path, await status(reader)]).toEqual([method, path, 403]);
    }
  });

  it("another app's and another tenant's role is not there, in the same bytes", async () => {
    const elsewhere: App[] = [await api.app(), await api.app({}, { tenant: newSlug() })];
    const owner = await api.holding('auth:*');
    const raw = async ([method, path, body]: [string, string, object?], token: string) => {
      const { status, text } = await server.request(method, `/auth/v1/auth${path}`, { token, body });
      return { status, text };
    };
    for (const { id } of elsewhere) {
      const [foreign] = await server.db.sql<{ id: string }[]>`select id from auth.roles where app_id = ${id}`;
      for (const [index, call] of role(foreign!.id).entries()) {
        const seen = await raw(call, owner);
        expect(seen.status).toBe(404);
        expect(seen).toEqual(await raw(role(absent)[index]!, owner));
      }
    }
    const own = await api.refusal('GET', `/roles?app_id=${elsewhere[0]!.id}`, { token: owner });
    expect(own[0]).toBe(403);
  });
});
