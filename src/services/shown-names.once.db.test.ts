/** Wherever people recognise something by its name, the name is what it looks like. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../testing/server.ts';

let server: TestServer;
let made: Record<string, string> = {};
const base = { auth: '/auth/v1/auth', authz: '/authz/v1', keys: '/keys/v1' };
const create = async (path: string, body: object): Promise<string> => {
  const answer = await server.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return (answer.body.id ?? answer.body.key.id) as string;
};
beforeAll(async () => {
  server = await testServer({ services: ['auth', 'authz', 'keys'] });
  made = {
    user: await create(`${base.auth}/users`, { username: 'countess' }),
    organization: await create(`${base.auth}/organizations`, { name: 'Engines', slug: 'engines' }),
    authRole: await create(`${base.auth}/roles`, { name: 'Editor', slug: 'editor' }),
    client: await create(`${base.auth}/oauth2/clients`, {
      name: 'Reports',
      redirect_uris: ['https://reports.example.com/callback'],
    }),
    role: await create(`${base.authz}/roles`, { name: 'Editor' }),
    key: await create(`${base.keys}/keys`, { name: 'Job' }),
    keyPolicy: await create(`${base.keys}/policies`, { name: 'Partners' }),
  };
});
afterAll(() => server.close());

const { auth, authz, keys } = base;
const redirect_uris = ['https://reports.example.com/callback'];
const rule = { effect: 'deny', subjects: ['user:*'], actions: ['*'], resources: ['document:*'] };

it.each<[what: string, method: string, path: (ids: typeof made) => string, body?: object]>([
  ['a new user', 'POST', () => `${auth}/users`, { username: 'other' }],
  ['a user', 'PATCH', ({ user }) => `${auth}/users/${user}`],
  ['a new organization', 'POST', () => `${auth}/organizations`, { slug: 'other' }],
  ['an organization', 'PATCH', ({ organization }) => `${auth}/organizations/${organization}`],
  ['a new team', 'POST', ({ organization }) => `${auth}/organizations/${organization}/teams`, { slug: 'a' }],
  ['a new app', 'POST', () => `${auth}/apps`, { slug: 'other' }],
  ['an app', 'PATCH', () => `${auth}/apps/default`],
  ['a new role', 'POST', () => `${auth}/roles`, { slug: 'other' }],
  ['a role', 'PATCH', ({ authRole }) => `${auth}/roles/${authRole}`],
  ['a new client', 'POST', () => `${auth}/oauth2/clients`, { redirect_uris }],
  ['a client', 'PATCH', ({ client }) => `${auth}/oauth2/clients/${client}`],
  ['a new role of authz', 'POST', () => `${authz}/roles`],
  ['a role of authz', 'PUT', ({ role }) => `${authz}/roles/${role}`],
  ['a new permission', 'POST', () => `${authz}/permissions`, { resource: 'document', action: 'read' }],
  ['a new policy', 'POST', () => `${authz}/policies`, rule],
  ['a new key', 'POST', () => `${keys}/keys`],
  ['a key', 'PATCH', ({ key }) => `${keys}/keys/${key}`],
  ['a new policy of keys', 'POST', () => `${keys}/policies`],
  ['a policy of keys', 'PUT', ({ keyPolicy }) => `${keys}/policies/${keyPolicy}`],
])('%s is not named by what nobody sees', async (_what, method, path, body = {}) => {
  for (const [name, code] of [
    ['Admin\u202Enimda', 'U+202E'],
    ['Ad\u200Bmin', 'U+200B'],
  ]) {
    const answer = await server.request(method, path(made), { body: { ...body, name } });
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining(`name: must not contain the invisible character ${code}`),
    ]);
  }
});
