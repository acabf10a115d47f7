import { describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../http/caller.ts';
import { portCall } from '../../http/local-port.ts';
import { changeStore } from './changes.store.ts';
import { relations } from './relations.ts';
import { settings } from './settings.ts';
import { readSettings } from '../../lib/settings.ts';
import { Models } from './models.ts';
import { authzServer, type Body, type Client, tuple } from './testing.ts';
import { createWriter } from './writes.ts';

const authz = authzServer();

/** Returns what the tables contain about a tenant. */
async function stored({ name }: Client) {
  const { sql } = authz.server.db;
  const [tenant] = await sql<Body[]>`
    select revision, roles, permissions, policies, types, assignments, tuples
    from authz.tenants where tenant_id = ${name}`;
  const changes = await sql<{ revision: number }[]>`
    select distinct revision from authz.changes where tenant_id = ${name} order by revision`;
  const events = await sql<{ type: string; subject: string; data: Body }[]>`
    select type, subject, data from authz.outbox where tenant_id = ${name} order by seq`;
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
    const client = authz.tenant();
    const role = await client.create('/roles', { name: 'First' });
    const responses = await Promise.all(Array.from({ length: 64 }, () => client.post(path, body(role))));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array<number>(63).fill(409)]);
    const { tenant, revisions } = await stored(client);
    expect([tenant.revision, revisions]).toEqual([2, [1, 2]]);
  });

  it('of different ones raise the revision by one each', async () => {
    const client = authz.tenant();
    const responses = await Promise.all(
      upTo(64).map((n) => client.post('/relations', tuple(`document:${n}#viewer@user:a`))),
    );
    const seen = responses.map(({ headers }) => Number(headers.get('x-revision'))).sort((a, b) => a - b);
    expect(seen).toEqual(upTo(64));
    const { tenant, revisions } = await stored(client);
    expect([tenant.revision, tenant.tuples, revisions]).toEqual([64, 64, upTo(64)]);
  });
});

it('counts what is there, whatever was written, refused and deleted', async () => {
  const client = authz.tenant();
  const role = await client.create('/roles', { name: 'R' });
  await client.post('/roles', { name: 'R' });
  const permission = await client.create('/permissions', { resource: 'a', action: 'b' });
  await client.create(`/roles/${role.id}/permissions`, { permission_id: permission.id });
  const gone = await client.create('/permissions', { resource: 'c', action: 'd' });
  await client.delete(`/permissions/${gone.id}`);
  await client.create('/policies', {
    name: 'P',
    effect: 'deny',
    subjects: ['*'],
    actions: ['x'],
    resources: ['y'],
  });
  await client.create('/resource-types', { name: 'folder' });
  await client.create('/assignments', { role_id: role.id, subject_kind: 'user', subject_id: 'u' });
  await client.post('/relations/batch', { writes: ['a:1#b@c:d', 'a:2#b@c:d'].map(tuple) });
  await client.post('/relations/delete', tuple('a:1#b@c:d'));
  expect((await stored(client)).tenant).toEqual({
    ...{ revision: 10, roles: 1, permissions: 1, policies: 1, types: 1, assignments: 1, tuples: 1 },
  });
});

it('leaves nothing of a batch whose last tuple is refused once the others were sent', async () => {
  const client = authz.tenant();
  await client.create('/resource-types', {
    name: 'folder',
    relations: [{ name: 'owner', subjects: ['user'] }],
  });
  await client.create('/relations', tuple('folder:1#owner@user:a'));
  const before = await stored(client);
  const refused = await client.post('/relations/batch', {
    writes: ['folder:2#owner@user:a', 'folder:3#owner@group:g'].map(tuple),
    deletes: [tuple('folder:1#owner@user:a')],
  });
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'writes[1].subject_type: "group" is not a subject of "folder#owner"',
  ]);
  const late = await client.post('/relations', {
    ...tuple('folder:2#owner@user:a'),
    expires_at: '2020-01-01T00:00:00Z',
  });
  expect(late.status).toBe(400);
  expect(await stored(client)).toEqual(before);
  const { body } = await client.get('/relations');
  expect(body.map(({ object_id, revision }: Body) => [object_id, revision])).toEqual([['1', 2]]);
});

it('emits one event for each change, with the record', async () => {
  const client = authz.tenant();
  const role = await client.create('/roles', { name: 'R' });
  const permission = await client.create('/permissions', { resource: 'a', action: 'b' });
  await client.create(`/roles/${role.id}/permissions`, { permission_id: permission.id });
  await client.put(`/roles/${role.id}`, { name: 'S' });
  await client.put(`/roles/${role.id}`, { name: 'S' });
  await client.post('/relations/batch', { writes: [tuple('a:1#b@c:d')], deletes: [tuple('a:2#b@c:d')] });
  const { events } = await stored(client);
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
  const client = authz.tenant();
  await client.create('/roles', { name: 'R' });
  await authz.server.db.sql`
    update authz.tenants set roles = 10000, types = 500 where tenant_id = ${client.name}`;
  const role = await client.post('/roles', { name: 'S' });
  expect([role.status, role.body.error.message]).toEqual([409, 'limit reached: 10000 roles']);
  const type = await client.post('/resource-types', { name: 'folder' });
  expect([type.status, type.body.error.message]).toEqual([409, 'limit reached: 500 resource types']);
});

it('refuses to change a system role without authz:admin', async () => {
  const client = authz.tenant();
  const role = await client.create('/roles', { name: 'System', is_system: true });
  const db = authz.server.db;
  const { roles } = await import('./roles.ts');
  const models = new Models(db, readSettings(settings, {}));
  const deps = { db, models, settings: readSettings(settings, {}), ...createWriter(db, models) };
  const context = contextOf(client.name);
  const permission = await client.create('/permissions', { resource: 'a', action: 'b' });
  const handlers = roles(deps);
  for (const refused of [
    () => handlers.update({ roleId: role.id, body: { name: 'x' } }, context),
    () => handlers.delete({ roleId: role.id }, context),
    () => handlers.attachPermission({ roleId: role.id, body: { permission_id: permission.id } }, context),
    () => handlers.create({ body: { ...newRole, name: 'Other', is_system: true } }, context),
  ])
    await expect(refused()).rejects.toMatchObject({ kind: 'forbidden', message: 'system role' });
  expect((await client.get(`/roles/${role.id}`)).body).toEqual(role);
});

// On the embedded database no other process can write.
describe.skipIf(inject('engine') === 'pglite')('another process', () => {
  /** Writes like another process whose notices get lost. */
  async function elsewhere({ name }: Client, text: string, method: 'write' | 'delete'): Promise<void> {
    const db = { ...authz.server.db, notices: { ...authz.server.db.notices, send: async () => {} } };
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
    await relations(deps)[method]({ body }, contextOf(name));
  }

  it('is followed where its changes are in the log, and where the log was pruned beyond them', async () => {
    const client = authz.tenant();
    await client.create('/relations', tuple('document:1#read@user:a'));
    const allowed = async (user: string) =>
      (await client.check(`user:${user}`, 'read', 'document:1', { fresh: true })).allowed;
    expect(await allowed('a')).toBe(true);

    await elsewhere(client, 'document:1#read@user:a', 'delete');
    expect(await allowed('a')).toBe(false);

    await elsewhere(client, 'document:1#read@user:b', 'write');
    await elsewhere(client, 'document:1#read@user:c', 'write');
    await changeStore(authz.server.db.sql).prune(0, 1_000_000);
    expect([await allowed('a'), await allowed('b'), await allowed('c')]).toEqual([false, true, true]);
    await client.create('/relations', tuple('document:1#read@user:d'));
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
