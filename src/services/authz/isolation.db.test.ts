import { describe, expect, it } from 'vitest';
import { authzServer, tuple } from './testing.ts';

const authz = authzServer();

/** One record of each kind in a tenant. */
async function populate() {
  const client = authz.tenant();
  const role = await client.create('/roles', { name: 'Viewer' });
  const permission = await client.create('/permissions', { resource: 'document', action: 'read' });
  await client.create(`/roles/${role.id}/permissions`, { permission_id: permission.id });
  const assignment = await client.create('/assignments', {
    role_id: role.id,
    subject_kind: 'user',
    subject_id: 'u1',
  });
  const relation = await client.create('/relations', tuple('document:1#viewer@user:u2'));
  const policy = await client.create('/policies', {
    ...{ name: 'P', effect: 'allow', subjects: ['user:u3'], actions: ['read'], resources: ['document'] },
  });
  const type = await client.create('/resource-types', { name: 'folder' });
  return { client, role, permission, assignment, relation, policy, type };
}

describe('another tenant', () => {
  it('gets for every id the same answer, byte for byte, as for one that does not exist', async () => {
    const theirs = await populate();
    const other = authz.tenant();
    const own = await other.create('/roles', { name: 'Own' });
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
          const { status, text } = await other.request(method, path, body);
          return [status, text];
        }),
      );
    const foreign = await answers((id) => id);
    expect(foreign).toEqual(await answers(absent));
    expect(new Set(foreign.map(([status]) => status))).toEqual(new Set([404]));
  });

  it('finds nothing in its lists and decisions, also after the first tenant’s model is in memory', async () => {
    const theirs = await populate();
    const other = authz.tenant();
    for (const [subject, action] of [
      ['user:u1', 'read'],
      ['user:u2', 'viewer'],
      ['user:u3', 'read'],
    ] as const) {
      expect((await theirs.client.check(subject, action, 'document:1')).allowed).toBe(true);
      expect((await other.check(subject, action, 'document:1')).allowed).toBe(false);
    }
    for (const path of ['roles', 'permissions', 'assignments', 'relations', 'policies', 'resource-types'])
      expect((await other.get(`/${path}`)).body, path).toEqual([]);
    expect((await other.get('/subjects/user/u1/roles')).body).toEqual([]);
    await other.post('/relations/purge', { object_type: 'document', object_id: '1' });
    await other.post('/relations/delete', tuple('document:1#viewer@user:u2'));
    expect((await theirs.client.get('/relations')).body).toHaveLength(1);
  });
});

it.each([
  ['GET', '/roles/perm_01m7w4n5e0f09tyqnar8mvs3hn'],
  ['GET', '/permissions/role_01m7w4n5e0f7drekxj50y51wjg'],
  ['DELETE', '/assignments/x'],
  ['GET', '/policies/pol_zzzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['PUT', '/resource-types/rtype_'],
])('refuses a malformed or wrongly prefixed id: %s %s', async (method, path) => {
  const response = await authz.tenant().request(method, path, method === 'PUT' ? {} : undefined);
  expect(response.status).toBe(400);
});
