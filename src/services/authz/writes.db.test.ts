import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../http/caller.ts';
import { portCall } from '../../http/port-call.ts';
import { changeStore } from './changes.store.ts';
import { relations } from './relations.ts';
import { settings } from './settings.ts';
import { readSettings } from '../../lib/settings.ts';
import { Models } from './models.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { type Body, tools, type Tools, tuple } from './testing.ts';
import { createWriter } from './writes.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

/** Returns what the tables contain about a tenant. */
async function stored({ tenant: tenant_id }: Tools) {
  const { sql } = server.db;
  const [tenant] = await sql<Body[]>`
    select revision, roles, permissions, policies, types, assignments, tuples
    from authz.tenants where tenant_id = ${tenant_id}`;
  const changes = await sql<{ revision: number }[]>`
    select distinct revision from authz.changes where tenant_id = ${tenant_id} order by revision`;
  const events = await sql<{ type: string; subject: string; data: Body }[]>`
    select type, subject, data from authz.outbox where tenant_id = ${tenant_id} order by seq`;
  return { tenant, revisions: changes.map(({ revision }) => revision), events };
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe('64 creates at once', () => {
  it.each([
    ['/relations', () => tuple('document:1#viewer@user:a')],
    ['/roles', () => ({ name: 'Editor' })],
    ['/permissions', () => ({ resource: 'document', action: 'read' })],
    ['/assignments', (role: Body) => ({ role_id: role.id, subject_kind: 'user', subject_id: 'u' })],
  ])('of one and the same make exactly one in %s, and revisions have no gap', async (path, body) => {
    const api = tools(server);
    const role = await api.role({ name: 'First' });
    const responses = await Promise.all(
      Array.from({ length: 64 }, () => api.request('POST', path, { body: body(role) })),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array<number>(63).fill(409)]);
    const { tenant, revisions } = await stored(api);
    expect([tenant.revision, revisions]).toEqual([2, [1, 2]]);
  });

  it('of different ones raise the revision by one each', async () => {
    const api = tools(server);
    const responses = await Promise.all(
      upTo(64).map((n) => api.request('POST', '/relations', { body: tuple(`document:${n}#viewer@user:a`) })),
    );
    const seen = responses.map(({ headers }) => Number(headers.get('x-revision'))).sort((a, b) => a - b);
    expect(seen).toEqual(upTo(64));
    const { tenant, revisions } = await stored(api);
    expect([tenant.revision, tenant.tuples, revisions]).toEqual([64, 64, upTo(64)]);
  });
});

it('counts what is there, whatever was written, refused and deleted', async () => {
  const api = tools(server);
  const role = await api.role({ name: 'R' });
  await api.request('POST', '/roles', { body: { name: 'R' } });
  const permission = await api.permission({ resource: 'a', action: 'b' });
  await api.attach(role.id, permission.id);
  const gone = await api.permission({ resource: 'c', action: 'd' });
  await api.send('DELETE', `/permissions/${gone.id}`);
  await api.policy({
    name: 'P',
    effect: 'deny',
    subjects: ['*'],
    actions: ['x'],
    resources: ['y'],
  });
  await api.resourceType({ name: 'folder' });
  await api.assignment({ role_id: role.id, subject_kind: 'user', subject_id: 'u' });
  await api.send('POST', '/relations/batch', { body: { writes: ['a:1#b@c:d', 'a:2#b@c:d'].map(tuple) } });
  await api.send('POST', '/relations/delete', { body: tuple('a:1#b@c:d') });
  expect((await stored(api)).tenant).toEqual({
    ...{ revision: 10, roles: 1, permissions: 1, policies: 1, types: 1, assignments: 1, tuples: 1 },
  });
});

it('leaves nothing of a batch whose last tuple is refused once the others were sent', async () => {
  const api = tools(server);
  await api.resourceType({
    name: 'folder',
    relations: [{ name: 'owner', subjects: ['user'] }],
  });
  await api.relation('folder:1#owner@user:a');
  const before = await stored(api);
  expect(
    await api.refusal('POST', '/relations/batch', {
      body: {
        writes: ['folder:2#owner@user:a', 'folder:3#owner@group:g'].map(tuple),
        deletes: [tuple('folder:1#owner@user:a')],
      },
    }),
  ).toEqual([400, 'writes[1].subject_type: "group" is not a subject of "folder#owner"']);
  const late = await api.request('POST', '/relations', {
    body: {
      ...tuple('folder:2#owner@user:a'),
      expires_at: '2020-01-01T00:00:00Z',
    },
  });
  expect(late.status).toBe(400);
  expect(await stored(api)).toEqual(before);
  const { body } = await api.request('GET', '/relations');
  expect(body.map(({ object_id, revision }: Body) => [object_id, revision])).toEqual([['1', 2]]);
});

it('emits one event for each change, with the record', async () => {
  const api = tools(server);
  const role = await api.role({ name: 'R' });
  const permission = await api.permission({ resource: 'a', action: 'b' });
  await api.attach(role.id, permission.id);
  await api.send('PUT', `/roles/${role.id}`, { body: { name: 'S' } });
  await api.send('PUT', `/roles/${role.id}`, { body: { name: 'S' } });
  await api.send('POST', '/relations/batch', {
    body: { writes: [tuple('a:1#b@c:d')], deletes: [tuple('a:2#b@c:d')] },
  });
  const { events } = await stored(api);
  expect(events.map(({ type }) => type)).toEqual([
    ...['authz.role.created', 'authz.permission.created', 'authz.permission.attached', 'authz.role.updated'],
    'authz.relations.changed',
  ]);
  expect(events[0]).toMatchObject({ subject: role.id, data: role });
  expect(events[2]).toMatchObject({
    subject: permission.id,
    data: { role_id: role.id, permission_id: permission.id },
  });
  expect(events[4]?.data).toEqual({ written: [tuple('a:1#b@c:d')], deleted: [] });
});

it('refuses one more than a tenant may have', async () => {
  const api = tools(server);
  await api.role({ name: 'R' });
  await server.db.sql`
    update authz.tenants set roles = 10000, types = 500 where tenant_id = ${api.tenant}`;
  expect(await api.refusal('POST', '/roles', { body: { name: 'S' } })).toEqual([
    409,
    'limit reached: 10000 roles',
  ]);
  expect(await api.refusal('POST', '/resource-types', { body: { name: 'folder' } })).toEqual([
    409,
    'limit reached: 500 resource types',
  ]);
});

it('refuses to change a system role without authz:admin', async () => {
  const api = tools(server);
  const role = await api.role({ name: 'System', is_system: true });
  const db = server.db;
  const { roles } = await import('./roles.ts');
  const models = new Models(db, readSettings(settings, {}));
  const deps = { db, models, settings: readSettings(settings, {}), ...createWriter(db, models) };
  const context = contextOf(api.tenant);
  const permission = await api.permission({ resource: 'a', action: 'b' });
  const handlers = roles(deps);
  for (const refused of [
    () => handlers.update({ roleId: role.id, body: { name: 'x' } }, context),
    () => handlers.delete({ roleId: role.id }, context),
    () => handlers.attachPermission({ roleId: role.id, body: { permission_id: permission.id } }, context),
    () => handlers.create({ body: { ...newRole, name: 'Other', is_system: true } }, context),
  ])
    await expect(refused()).rejects.toMatchObject({ kind: 'forbidden', message: 'system role' });
  expect(await api.send('GET', `/roles/${role.id}`)).toEqual(role);
});

// On the embedded database no other process can write.
describe.skipIf(inject('engine') === 'pglite')('another process', () => {
  /** Writes like another process whose notices get lost. */
  async function elsewhere({ tenant }: Tools, text: string, method: 'write' | 'delete'): Promise<void> {
    const db = { ...server.db, notices: { ...server.db.notices, send: async () => {} } };
    const values = readSettings(settings, {});
    const deps = {
      db,
      settings: values,
      models: new Models(db, values),
      ...createWriter(db, new Models(db, values)),
    };
    const body = {
      ...tuple(text),
      relation: tuple(text).relation ?? '',
      expires_at: null,
      on_duplicate: 'error' as const,
    };
    await relations(deps)[method]({ body }, contextOf(tenant));
  }

  it('is followed where its changes are in the log, and where the log was pruned beyond them', async () => {
    const api = tools(server);
    await api.relation('document:1#read@user:a');
    const allowed = async (user: string) =>
      (await api.check(`user:${user}`, 'read', 'document:1', { fresh: true })).allowed;
    expect(await allowed('a')).toBe(true);

    await elsewhere(api, 'document:1#read@user:a', 'delete');
    expect(await allowed('a')).toBe(false);

    await elsewhere(api, 'document:1#read@user:b', 'write');
    await elsewhere(api, 'document:1#read@user:c', 'write');
    await changeStore(server.db.sql).prune(0, 1_000_000);
    expect([await allowed('a'), await allowed('b'), await allowed('c')]).toEqual([false, true, true]);
    await api.relation('document:1#read@user:d');
    expect([await allowed('b'), await allowed('d')]).toEqual([true, true]);
  });
});

const newRole = { description: '', parent_id: null, is_system: false, is_default: false, metadata: {} };

/** A caller that has only `authz:write`. */
function contextOf(tenant: string) {
  const caller: Caller = {
    ...{ tenant, app: 'default', actor: 'root', userId: null, subjectId: null, scopes: ['authz:write'] },
    credential: { kind: 'key', id: 'key_x' },
    session: null,
    confined: false,
  };
  const { signal } = new AbortController();
  const asker = { caller, requestId: 'r', ip: '127.0.0.1', userAgent: null, signal };
  return portCall(asker, 'authz', { tenant: 'default', app: 'default' });
}
