import { describe, expect, it } from 'vitest';
import { authzServer, type Client, pluck, type Stored } from './testing.ts';

const authz = authzServer();

/** A tenant with a role that may read documents and projects. */
async function withViewer(): Promise<{ client: Client; role: Stored }> {
  const client = authz.tenant();
  const role = await client.create('/roles', { name: 'Viewer' });
  const permission = await client.create('/permissions', { resource: '*', action: 'read' });
  await client.create(`/roles/${role.id}/permissions`, { permission_id: permission.id });
  return { client, role };
}

const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

describe('create', () => {
  it('stores the assignment with the slug of its role and who made it', async () => {
    const { client, role } = await withViewer();
    const given = {
      ...{ role_id: role.id, subject_kind: 'user', subject_id: 'user-42', resource_type: 'project' },
      ...{ resource_id: 'project-123', expires_at: '2099-12-31T23:59:59+01:00' },
    };
    const assignment = await client.create('/assignments', given);
    expect(assignment).toMatchObject({
      ...{
        ...given,
        expires_at: '2099-12-31T22:59:59.000Z',
        role_slug: 'viewer',
        created_by: 'root',
        revision: 4,
      },
    });
    expect((await client.get(`/assignments/${assignment.id}`)).body).toEqual(assignment);
  });

  it.each([
    [{ resource_id: 'p1' }, 400, 'resource_type: required with resource_id'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 400, 'expires_at: must be in the future'],
    [{ role_id: 'role_01m7w4n5e0f7drekxj50y51wjg' }, 404, 'role not found'],
    [{ subject_id: '🦊'.repeat(300) }, 400, 'subject_id: longer than 1024 bytes'],
  ])('refuses %j', async (change, status, message) => {
    const { client, role } = await withViewer();
    const response = await client.post('/assignments', {
      ...{ role_id: role.id, subject_kind: 'user', subject_id: 'u1' },
      ...change,
    });
    expect([response.status, response.body.error.message]).toEqual([status, message]);
  });

  it('refuses the same role, subject and resource a second time', async () => {
    const { client, role } = await withViewer();
    const given = { role_id: role.id, subject_kind: 'user', subject_id: 'u1' };
    await client.create('/assignments', given);
    await client.create('/assignments', { ...given, resource_type: 'document' });
    const again = await client.post('/assignments', {
      ...given,
      resource_type: 'document',
      resource_id: null,
    });
    expect([again.status, again.body.error.message]).toEqual([409, 'assignment already exists']);
  });
});

describe('scope', () => {
  it('limits the grant to a resource or a type, and a question about the type ignores grants for resources', async () => {
    const { client, role } = await withViewer();
    const given = { role_id: role.id, subject_kind: 'user' };
    await client.create('/assignments', {
      ...given,
      subject_id: 'one',
      resource_type: 'document',
      resource_id: '1',
    });
    await client.create('/assignments', { ...given, subject_id: 'type', resource_type: 'document' });
    await client.create('/assignments', { ...given, subject_id: 'all' });
    const allowed = async (subject: string, resource: string) =>
      (await client.check(`user:${subject}`, 'read', resource)).allowed;
    for (const [subject, answers] of [
      ['one', [true, false, false, false]],
      ['type', [true, true, true, false]],
      ['all', [true, true, true, true]],
    ] as const) {
      const asked = ['document:1', 'document:2', 'document', 'project:1'].map((resource) =>
        allowed(subject, resource),
      );
      expect(await Promise.all(asked), subject).toEqual(answers);
    }
  });
});

describe('expiry', () => {
  it('ends the grant in the millisecond it names, hides the assignment, and makes room for another', async () => {
    const { client, role } = await withViewer();
    const given = { role_id: role.id, subject_kind: 'user', subject_id: 'u1' };
    const expires_at = soon(700);
    const assignment = await client.create('/assignments', { ...given, expires_at });
    expect((await client.check('user:u1', 'read', 'document:1')).allowed).toBe(true);

    const [{ left }] = await authz.server.db.sql<[{ left: number }]>`
      select ceil(extract(epoch from (${expires_at}::timestamptz - clock_timestamp())) * 1000)::int as left`;
    await new Promise((resolve) => setTimeout(resolve, left + 20));
    expect((await client.check('user:u1', 'read', 'document:1')).allowed).toBe(false);
    expect((await client.get(`/assignments/${assignment.id}`)).status).toBe(404);
    expect((await client.get('/assignments')).body).toEqual([]);
    expect((await client.get('/subjects/user/u1/roles')).body).toEqual([]);
    expect((await client.delete(`/assignments/${assignment.id}`)).status).toBe(404);

    const next = await client.create('/assignments', given);
    expect(next.id).not.toBe(assignment.id);
    expect((await client.check('user:u1', 'read', 'document:1')).allowed).toBe(true);
    const [{ assignments }] = await authz.server.db.sql<[{ assignments: number }]>`
      select assignments from authz.tenants where tenant_id = ${client.name}`;
    expect(assignments).toBe(1);
  });
});

describe('list', () => {
  it('combines its filters, and refuses those that mean nothing alone', async () => {
    const { client, role } = await withViewer();
    const other = await client.create('/roles', { name: 'Other' });
    const make = (role_id: string, subject: string, resource_type?: string, resource_id?: string) =>
      client.create('/assignments', {
        ...{ role_id, subject_kind: 'user', subject_id: subject },
        ...(resource_type && { resource_type }),
        ...(resource_id && { resource_id }),
      });
    const made = [
      await make(role.id, 'a'),
      await make(role.id, 'a', 'document'),
      await make(other.id, 'a', 'document', '1'),
      await make(role.id, 'b', 'document', '1'),
    ];
    const found = async (query: string) =>
      pluck((await client.get(`/assignments?${query}`)).body, 'id').map((id) =>
        made.findIndex((one) => one.id === id),
      );
    expect(await found('')).toEqual([3, 2, 1, 0]);
    expect(await found('subject_kind=user&subject_id=a')).toEqual([2, 1, 0]);
    expect(await found('subject_kind=service')).toEqual([]);
    expect(await found(`role_id=${role.id}`)).toEqual([3, 1, 0]);
    expect(await found(`role_id=${role.id}&subject_kind=user&subject_id=a`)).toEqual([1, 0]);
    expect(await found('resource_type=document')).toEqual([3, 2, 1]);
    expect(await found('resource_type=document&resource_id=1')).toEqual([3, 2]);
    expect((await client.get('/assignments?subject_id=a')).body.error.message).toBe(
      'subject_kind: required with subject_id',
    );
    expect((await client.get('/assignments?resource_id=1')).body.error.message).toBe(
      'resource_type: required with resource_id',
    );
  });
});

it('grants nothing after it is deleted', async () => {
  const { client, role } = await withViewer();
  const assignment = await client.create('/assignments', {
    role_id: role.id,
    subject_kind: 'user',
    subject_id: 'u1',
  });
  expect((await client.check('user:u1', 'read', 'document:1')).allowed).toBe(true);
  expect((await client.delete(`/assignments/${assignment.id}`)).status).toBe(204);
  expect((await client.check('user:u1', 'read', 'document:1')).allowed).toBe(false);
});
