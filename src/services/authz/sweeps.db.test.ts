import { describe, expect, it } from 'vitest';
import { runSweep } from '../../db/sweeps.ts';
import { changesSweep, expiredSweep, goneRolesSweep } from './sweeps.ts';
import { authzServer, type Body, type Client, tuple } from './testing.ts';

const authz = authzServer();
const database = () => authz.server.db;

async function counters({ name }: Client): Promise<Body> {
  const [tenant] = await database().sql<Body[]>`
    select revision, assignments, tuples from authz.tenants where tenant_id = ${name}`;
  return tenant;
}

/** Makes the facts of a tenant expire at once. */
async function expire({ name }: Client): Promise<void> {
  const { sql } = database();
  await sql`update authz.assignments set expires_at = now() - interval '1 second'
    where tenant_id = ${name} and expires_at is not null`;
  await sql`update authz.relations set expires_at = now() - interval '1 second'
    where tenant_id = ${name} and expires_at is not null`;
}

describe('expired facts', () => {
  it('are removed with their events and off the counters, without a new revision', async () => {
    const client = authz.tenant();
    const expires_at = '2099-01-01T00:00:00Z';
    const role = await client.create('/roles', { name: 'R' });
    const given = { role_id: role.id, subject_kind: 'user' };
    const assignment = await client.create('/assignments', { ...given, subject_id: 'a', expires_at });
    await client.create('/assignments', { ...given, subject_id: 'b' });
    await client.post('/relations/batch', {
      writes: Array.from({ length: 1500 }, (_, n) => ({
        ...tuple(`document:${n}#viewer@user:a`),
        expires_at,
      })),
    });
    await client.create('/relations', tuple('document:1#owner@user:a'));
    await expire(client);
    const { revision } = await counters(client);

    await runSweep(expiredSweep(database()));
    expect(await counters(client)).toEqual({ revision, assignments: 1, tuples: 1 });
    const { sql } = database();
    expect(await sql`select 1 from authz.relations where tenant_id = ${client.name}`).toHaveLength(1);
    const events = await sql<{ type: string; subject: string }[]>`
      select type, subject from authz.outbox where tenant_id = ${client.name} and type like '%.expired'`;
    expect(events).toHaveLength(1501);
    expect(events).toContainEqual({ type: 'authz.assignment.expired', subject: assignment.id });
  });
});

describe('a role with 100,000 assignments', () => {
  it('is deleted at once: nothing grants or is listed from then on, and the rows go in the background', async () => {
    const client = authz.tenant();
    const role = await client.create('/roles', { name: 'Crowd' });
    const permission = await client.create('/permissions', { resource: 'page', action: 'read' });
    await client.create(`/roles/${role.id}/permissions`, { permission_id: permission.id });
    const { sql } = database();
    await sql`
      insert into authz.assignments
        (id, tenant_id, app_id, role_id, subject_kind, subject_id, created_by, revision)
      select 'asgn_0' || lpad(n::text, 25, '0'), ${client.name}, 'default', ${role.id}, 'user', 'u' || n, 'root', 1
      from generate_series(1, 100000) n`;
    await sql`update authz.tenants set assignments = 100000 where tenant_id = ${client.name}`;
    expect((await client.check('user:u99999', 'read', 'page:1')).allowed).toBe(true);

    expect((await client.delete(`/roles/${role.id}`)).status).toBe(204);
    expect((await client.check('user:u99999', 'read', 'page:1')).allowed).toBe(false);
    expect((await client.get('/subjects/user/u1/roles')).body).toEqual([]);
    expect((await client.get(`/assignments?role_id=${role.id}`)).body).toEqual([]);
    expect((await counters(client)).assignments).toBe(100_000);

    await runSweep(goneRolesSweep(database()));
    expect((await counters(client)).assignments).toBe(0);
    expect(await sql`select 1 from authz.assignments where tenant_id = ${client.name}`).toHaveLength(0);
    expect(await sql`select 1 from authz.gone_roles where tenant_id = ${client.name}`).toHaveLength(0);
  }, 120_000);
});

it('removes old changes and remembers how far back the log still goes', async () => {
  const client = authz.tenant();
  for (let n = 1; n <= 3; n += 1) await client.create('/relations', tuple(`document:${n}#viewer@user:a`));
  const { sql } = database();
  await sql`update authz.changes set created_at = now() - interval '2 hours'
    where tenant_id = ${client.name} and revision <= 2`;
  await runSweep(changesSweep(database(), 3_600_000));
  const [{ floor_revision }] = await sql<[{ floor_revision: number }]>`
    select floor_revision from authz.tenants where tenant_id = ${client.name}`;
  const rows = await sql<
    { revision: number }[]
  >`select revision from authz.changes where tenant_id = ${client.name}`;
  expect([floor_revision, rows]).toEqual([2, [{ revision: 3 }]]);
});
