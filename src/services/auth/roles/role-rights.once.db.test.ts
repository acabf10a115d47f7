import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App, Permission, Role } from '../../../../generated/auth/types.ts';
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

const beyond = (what: string, scope: string) => [
  403,
  `the ${what} holds ${scope}, which the caller does not`,
  'grant_exceeds_caller',
];

describe('nobody takes or changes what holds more than they do', () => {
  it('a role, also by what it inherits', async () => {
    const writer = await api.holding('auth:write');
    const parent = await api.role();
    await permit(parent, 'keys', 'write');
    const role = await api.role({ parent_id: parent.id });
    const own = await permit(role, 'documents', 'read');
    const { id: user_id } = await api.user();
    await assign(role, user_id);
    const refused = async (method: string, path: string, body?: object) =>
      expect(await api.refusal(method, `/roles/${role.id}${path}`, { token: writer, body })).toEqual(
        beyond('role', 'keys:write'),
      );
    await refused('POST', '/unassign', { user_id });
    await refused('POST', '/unassign', { user_id: (await api.user()).id });
    await refused('DELETE', `/permissions/${own.id}`);
    await refused('POST', '/permissions', { resource: 'documents', action: 'write' });
    await refused('PATCH', '', { parent_id: null });
    await refused('PATCH', '', { name: 'Harmless' });
    await refused('DELETE', '');
    const { roles } = await api.send('GET', `/users/${user_id}/roles`);
    expect(roles[0]).toEqual({ ...role, org_id: null });
    const holder = await api.holding('auth:write', 'keys:*');
    for (const path of ['/unassign', '/unassign'])
      expect(
        await api.refusal('POST', `/roles/${role.id}${path}`, { token: holder, body: { user_id } }),
      ).toEqual([200, '']);
    expect(await api.refusal('DELETE', `/roles/${role.id}`, { token: holder })).toEqual([200, '']);
  });

  it('everything, in one organization or in the app', async () => {
    const writer = await api.holding('auth:*');
    const role = await api.role();
    await permit(role, '*', '*');
    const user = await api.user();
    const org_id = await api.organization({ [user.id]: 'member' });
    for (const where of [{}, { org_id }]) {
      await assign(role, user.id, where);
      const body = { user_id: user.id, ...where };
      expect(await api.refusal('POST', `/roles/${role.id}/unassign`, { token: writer, body })).toEqual(
        beyond('role', '*'),
      );
    }
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
    for (const body of [
      { email: 'thief@example.com' },
      { username: `u${newSlug()}` },
      { email_verified: true },
    ])
      expect(await update(body)).toEqual(beyond('user', 'auth:*'));
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
