import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Permission, Role, UserRole } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools } from '../testing/admin.ts';

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
