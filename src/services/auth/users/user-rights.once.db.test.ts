import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools } from '../testing/admin.ts';
import { newEmail, newSlug } from '../testing/index.ts';

const absent = 'user_01m7w6qgepfq9s8v7qdkvzwn91';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

const status = async (token: string) =>
  (await server.request('GET', '/auth/v1/auth/roles?limit=1', { token })).status;

const ban = (id: string, body?: object): Promise<User> => api.send('POST', `/users/${id}/ban`, { body });

describe('who holds more than the caller', () => {
  const acts = (id: string): [string, string, object?][] => [
    ['POST', `/users/${id}/ban`, {}],
    ['POST', `/users/${id}/unban`],
    ['POST', `/users/${id}/signout-all`],
    ['DELETE', `/users/${id}/mfa`],
    ['PATCH', `/users/${id}`, { email: newEmail() }],
    ['PATCH', `/users/${id}`, { username: `u${newSlug()}` }],
    ['DELETE', `/users/${id}`],
  ];
  const refused = (scope: string) => [
    403,
    `the user holds ${scope}, which the caller does not`,
    'grant_exceeds_caller',
  ];

  it('is neither banned nor deleted, nor signed out, nor loses factors or addresses', async () => {
    const token = await api.holding('auth:read', 'auth:write', 'auth:admin');
    const boss = await api.signedIn();
    await api.give(boss.user, {}, ['*']);
    const billing = await api.signedIn();
    const role = await api.give(billing.user, {}, ['billing:read']);
    const org_id = await api.organization({ [billing.user.id]: 'member' });
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: billing.user.id } });
    await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: billing.user.id, org_id } });
    for (const [{ user, session_token }, scope] of [
      [boss, '*'],
      [billing, 'billing:read'],
    ] as const) {
      await server.db.sql`
        insert into auth.enrollments (id, tenant_id, user_id, method, verified)
        values (${newId('mfa')}, 'default', ${user.id}, 'totp', true)`;
      for (const [method, path, body] of acts(user.id).filter(([, path]) => !path.endsWith('/unban')))
        expect([method, path, await api.refusal(method, path, { token, body })]).toEqual([
          method,
          path,
          refused(scope),
        ]);
      expect([200, 403]).toContain(await status(session_token));
      expect(await server.db.sql`select from auth.enrollments where user_id = ${user.id}`).toHaveLength(1);
      await ban(user.id);
      expect(await api.refusal('POST', `/users/${user.id}/unban`, { token })).toEqual(refused(scope));
    }
  });

  it("is whoever holds more of the platform: the app's own names are nobody's privilege", async () => {
    const token = await api.holding('auth:read', 'auth:write', 'auth:admin');
    const { user } = await api.signedIn();
    await api.give(user, {}, ['documents:write', 'auth:admin']);
    for (const [method, path, body] of acts(user.id))
      expect([path, await api.refusal(method, path, { token, body })]).toEqual([path, [200, '']]);
  });

  it('is nobody to themselves', async () => {
    const { user, session_token: token } = await api.signedIn();
    await api.give(user, {}, ['auth:admin']);
    const org_id = await api.organization({ [user.id]: 'member' });
    const role = await api.give(user, {}, ['billing:read']);
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: user.id } });
    await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: user.id, org_id } });
    expect(await api.refusal('DELETE', `/users/${user.id}/mfa`, { token })).toEqual([200, '']);
  });
});

describe('who may', () => {
  const calls = (id: string): [string, string, object | undefined, string][] => [
    ['GET', `/users/${id}`, undefined, 'auth:read'],
    ['PATCH', `/users/${id}`, { name: 'x' }, 'auth:write'],
    ['DELETE', `/users/${id}`, undefined, 'auth:admin'],
    ['POST', `/users/${id}/ban`, {}, 'auth:admin'],
    ['POST', `/users/${id}/unban`, undefined, 'auth:admin'],
    ['GET', `/users/${id}/sessions`, undefined, 'auth:read'],
    ['POST', `/users/${id}/signout-all`, undefined, 'auth:admin'],
    ['DELETE', `/users/${id}/mfa`, undefined, 'auth:admin'],
    ['GET', `/users/${id}/roles`, undefined, 'auth:read'],
  ];

  it('401 without credentials, 403 without the scope', async () => {
    const { id } = await api.user();
    const tokens = {
      'auth:read': await api.holding('auth:write', 'auth:admin'),
      'auth:write': await api.holding('auth:read', 'auth:admin'),
      'auth:admin': await api.holding('auth:read', 'auth:write'),
    };
    const all = [
      ...calls(id),
      ['GET', '/users', undefined, 'auth:read'],
      ['POST', '/users', {}, 'auth:write'],
    ];
    for (const [method, path, body, scope] of all as ReturnType<typeof calls>) {
      const lacking = tokens[scope as keyof typeof tokens];
      expect([path, (await api.refusal(method, path, { token: null, body }))[0]]).toEqual([path, 401]);
      expect([path, (await api.refusal(method, path, { token: lacking, body })).slice(0, 2)]).toEqual([
        path,
        [403, `missing scope ${scope}`],
      ]);
    }
  });

  it("another app's and another tenant's user is not there, in the same bytes", async () => {
    const owner = await api.holding('auth:*');
    const tenant = newSlug();
    const strangers = [
      await api.signedIn({ app: await api.app() }),
      await api.signedIn({ tenant, app: await api.app({}, { tenant }) }),
    ];
    for (const { user } of strangers)
      for (const [index, [method, path, body]] of calls(user.id).entries()) {
        const raw = async (at: string) => {
          const answer = await server.request(method, `/auth/v1/auth${at}`, { token: owner, body });
          return { status: answer.status, text: answer.text };
        };
        const seen = await raw(path);
        expect(seen.status).toBe(404);
        expect(seen).toEqual(await raw(calls(absent)[index]![1]));
      }
    expect(await status(strangers[0]!.session_token)).toBe(403);
  });
});
