import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../generated/authz/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, tools, type Tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

/** A tenant with a role that may read documents and projects. */
async function withViewer(): Promise<{ api: Tools; role: Role }> {
  const api = tools(server);
  const role = await api.role({ name: 'Viewer' });
  const permission = await api.permission({ resource: '*', action: 'read' });
  await api.attach(role.id, permission.id);
  return { api, role };
}

const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

describe('create', () => {
  it('stores the assignment with the slug of its role and who made it', async () => {
    const { api, role } = await withViewer();
    const given = {
      ...{ role_id: role.id, subject_kind: 'user', subject_id: 'user-42', resource_type: 'project' },
      ...{ resource_id: 'project-123', expires_at: '2099-12-31T23:59:59+01:00' },
    };
    const assignment = await api.assignment(given);
    expect(assignment).toMatchObject({
      ...{
        ...given,
        expires_at: '2099-12-31T22:59:59.000Z',
        role_slug: 'viewer',
        created_by: 'root',
        revision: 4,
      },
    });
    expect(await api.send('GET', `/assignments/${assignment.id}`)).toEqual(assignment);
  });

  it.each([
    [{ resource_id: 'p1' }, 400, 'resource_type: required with resource_id'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 400, 'expires_at: must be in the future'],
    [{ role_id: 'role_01m7w4n5e0f7drekxj50y51wjg' }, 404, 'role not found'],
    [{ subject_id: '🦊'.repeat(300) }, 400, 'subject_id: longer than 1024 bytes'],
  ])('refuses %j', async (change, status, message) => {
    const { api, role } = await withViewer();
    expect(
      await api.refusal('POST', '/assignments', {
        body: {
          ...{ role_id: role.id, subject_kind: 'user', subject_id: 'u1' },
          ...change,
        },
      }),
    ).toEqual([status, message]);
  });

  it('refuses the same role, subject and resource a second time', async () => {
    const { api, role } = await withViewer();
    const given = { role_id: role.id, subject_kind: 'user', subject_id: 'u1' };
    await api.assignment(given);
    await api.assignment({ ...given, resource_type: 'document' });
    expect(
      await api.refusal('POST', '/assignments', {
        body: {
          ...given,
          resource_type: 'document',
          resource_id: null,
        },
      }),
    ).toEqual([409, 'assignment already exists']);
  });
});

describe('scope', () => {
  it('limits the grant to a resource or a type, and a question about the type ignores grants for resources', async () => {
    const { api, role } = await withViewer();
    const given = { role_id: role.id, subject_kind: 'user' };
    await api.assignment({
      ...given,
      subject_id: 'one',
      resource_type: 'document',
      resource_id: '1',
    });
    await api.assignment({ ...given, subject_id: 'type', resource_type: 'document' });
    await api.assignment({ ...given, subject_id: 'all' });
    const allowed = async (subject: string, resource: string) =>
      (await api.check(`user:${subject}`, 'read', resource)).allowed;
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
    const { api, role } = await withViewer();
    const given = { role_id: role.id, subject_kind: 'user', subject_id: 'u1' };
    const expires_at = soon(700);
    const assignment = await api.assignment({ ...given, expires_at });
    expect((await api.check('user:u1', 'read', 'document:1')).allowed).toBe(true);

    const [{ left }] = await server.db.sql<[{ left: number }]>`
      select ceil(extract(epoch from (${expires_at}::timestamptz - clock_timestamp())) * 1000)::int as left`;
    await new Promise((resolve) => setTimeout(resolve, left + 20));
    expect((await api.check('user:u1', 'read', 'document:1')).allowed).toBe(false);
    expect((await api.request('GET', `/assignments/${assignment.id}`)).status).toBe(404);
    expect(await api.send('GET', '/assignments')).toEqual([]);
    expect(await api.send('GET', '/subjects/user/u1/roles')).toEqual([]);
    expect((await api.request('DELETE', `/assignments/${assignment.id}`)).status).toBe(404);

    const next = await api.assignment(given);
    expect(next.id).not.toBe(assignment.id);
    expect((await api.check('user:u1', 'read', 'document:1')).allowed).toBe(true);
    const [{ assignments }] = await server.db.sql<[{ assignments: number }]>`
      select assignments from authz.tenants where tenant_id = ${api.tenant}`;
    expect(assignments).toBe(1);
  });
});

describe('list', () => {
  it('combines its filters, and refuses those that mean nothing alone', async () => {
    const { api, role } = await withViewer();
    const other = await api.role({ name: 'Other' });
    const make = (role_id: string, subject: string, resource_type?: string, resource_id?: string) =>
      api.assignment({
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
      pluck(await api.send('GET', `/assignments?${query}`), 'id').map((id) =>
        made.findIndex((one) => one.id === id),
      );
    expect(await found('')).toEqual([3, 2, 1, 0]);
    expect(await found('subject_kind=user&subject_id=a')).toEqual([2, 1, 0]);
    expect(await found('subject_kind=service')).toEqual([]);
    expect(await found(`role_id=${role.id}`)).toEqual([3, 1, 0]);
    expect(await found(`role_id=${role.id}&subject_kind=user&subject_id=a`)).toEqual([1, 0]);
    expect(await found('resource_type=document')).toEqual([3, 2, 1]);
    expect(await found('resource_type=document&resource_id=1')).toEqual([3, 2]);
    expect((await api.refusal('GET', '/assignments?subject_id=a'))[1]).toBe(
      'subject_kind: required with subject_id',
    );
    expect((await api.refusal('GET', '/assignments?resource_id=1'))[1]).toBe(
      'resource_type: required with resource_id',
    );
  });
});

it('grants nothing after it is deleted', async () => {
  const { api, role } = await withViewer();
  const assignment = await api.assignment({
    role_id: role.id,
    subject_kind: 'user',
    subject_id: 'u1',
  });
  expect((await api.check('user:u1', 'read', 'document:1')).allowed).toBe(true);
  expect((await api.request('DELETE', `/assignments/${assignment.id}`)).status).toBe(204);
  expect((await api.check('user:u1', 'read', 'document:1')).allowed).toBe(false);
});
