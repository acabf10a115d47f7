import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools, tuple } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

/** One record of each kind in a tenant. */
async function populate() {
  const api = tools(server);
  const role = await api.role({ name: 'Viewer' });
  const permission = await api.permission({ resource: 'document', action: 'read' });
  await api.attach(role.id, permission.id);
  const assignment = await api.assignment({
    role_id: role.id,
    subject_kind: 'user',
    subject_id: 'u1',
  });
  const relation = await api.relation('document:1#viewer@user:u2');
  const policy = await api.policy({
    ...{ name: 'P', effect: 'allow', subjects: ['user:u3'], actions: ['read'], resources: ['document'] },
  });
  const type = await api.resourceType({ name: 'folder' });
  return { api, role, permission, assignment, relation, policy, type };
}

describe('another tenant', () => {
  it('gets for every id the same answer, byte for byte, as for one that does not exist', async () => {
    const theirs = await populate();
    const other = tools(server);
    const own = await other.role({ name: 'Own' });
    const absent = (id: string) => id.replace(/.{6}$/, '000000');
    const calls = (id: (real: string) => string): [method: string, path: string, body?: object][] => [
      ['GET', `/roles/${id(theirs.role.id)}`],
      ['PUT', `/roles/${id(theirs.role.id)}`, { name: 'x' }],
      ['DELETE', `/roles/${id(theirs.role.id)}`],
      ['GET', `/roles/${id(theirs.role.id)}/permissions`],
      ['POST', `/roles/${id(theirs.role.id)}/permissions`, { permission_id: theirs.permission.id }],
      ['POST', `/roles/${own.id}/permissions`, { permission_id: id(theirs.permission.id) }],
      ['DELETE', `/roles/${id(theirs.role.id)}/permissions/${theirs.permission.id}`],
      ['DELETE', `/roles/${own.id}/permissions/${id(theirs.permission.id)}`],
      ['POST', '/roles', { name: 'x', parent_id: id(theirs.role.id) }],
      ['GET', `/permissions/${id(theirs.permission.id)}`],
      ['DELETE', `/permissions/${id(theirs.permission.id)}`],
      ['POST', '/assignments', { role_id: id(theirs.role.id), subject_kind: 'user', subject_id: 'x' }],
      ['GET', `/assignments/${id(theirs.assignment.id)}`],
      ['DELETE', `/assignments/${id(theirs.assignment.id)}`],
      ['GET', `/policies/${id(theirs.policy.id)}`],
      ['PUT', `/policies/${id(theirs.policy.id)}`, { name: 'x' }],
      ['DELETE', `/policies/${id(theirs.policy.id)}`],
      ['GET', `/resource-types/${id(theirs.type.id)}`],
      ['PUT', `/resource-types/${id(theirs.type.id)}`, { description: 'x' }],
      ['DELETE', `/resource-types/${id(theirs.type.id)}`],
    ];
    const answers = async (id: (real: string) => string) =>
      Promise.all(
        calls(id).map(async ([method, path, body]) => {
          const { status, text } = await other.request(method, path, { body });
          return [status, text];
        }),
      );
    const foreign = await answers((id) => id);
    expect(foreign).toEqual(await answers(absent));
    expect(new Set(foreign.map(([status]) => status))).toEqual(new Set([404]));
  });

  it('finds nothing in its lists and decisions, also after the first tenant’s model is in memory', async () => {
    const theirs = await populate();
    const other = tools(server);
    for (const [subject, action] of [
      ['user:u1', 'read'],
      ['user:u2', 'viewer'],
      ['user:u3', 'read'],
    ] as const) {
      expect((await theirs.api.check(subject, action, 'document:1')).allowed).toBe(true);
      expect((await other.check(subject, action, 'document:1')).allowed).toBe(false);
    }
    for (const path of ['roles', 'permissions', 'assignments', 'relations', 'policies', 'resource-types'])
      expect(await other.send('GET', `/${path}`), path).toEqual([]);
    expect(await other.send('GET', '/subjects/user/u1/roles')).toEqual([]);
    await other.send('POST', '/relations/purge', { body: { object_type: 'document', object_id: '1' } });
    await other.send('POST', '/relations/delete', { body: tuple('document:1#viewer@user:u2') });
    expect(await theirs.api.send('GET', '/relations')).toHaveLength(1);
  });
});

it.each([
  ['GET', '/roles/perm_01m7w4n5e0f09tyqnar8mvs3hn'],
  ['GET', '/permissions/role_01m7w4n5e0f7drekxj50y51wjg'],
  ['DELETE', '/assignments/x'],
  ['GET', '/policies/pol_zzzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['PUT', '/resource-types/rtype_'],
])('refuses a malformed or wrongly prefixed id: %s %s', async (method, path) => {
  const response = await tools(server).request(method, path, method === 'PUT' ? { body: {} } : {});
  expect(response.status).toBe(400);
});
