import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSweep } from '../../db/sweeps.ts';
import { changesSweep, expiredSweep, goneRolesSweep } from './sweeps.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { type Body, tools, type Tools, tuple } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());
const database = () => server.db;

async function counters({ tenant: tenant_id }: Tools): Promise<Body> {
  const [tenant] = await database().sql<Body[]>`
    select revision, assignments, tuples from authz.tenants where tenant_id = ${tenant_id}`;
  return tenant;
}

/** Makes the facts of a tenant expire at once. */
async function expire({ tenant }: Tools): Promise<void> {
  const { sql } = database();
  await sql`update authz.assignments set expires_at = now() - interval '1 second'
    where tenant_id = ${tenant} and expires_at is not null`;
  await sql`update authz.relations set expires_at = now() - interval '1 second'
    where tenant_id = ${tenant} and expires_at is not null`;
}

describe('expired facts', () => {
  it('are removed with their events and off the counters, without a new revision', async () => {
    const api = tools(server);
    const expires_at = '2099-01-01T00:00:00Z';
    const role = await api.role({ name: 'R' });
    const given = { role_id: role.id, subject_kind: 'user' };
    const assignment = await api.assignment({ ...given, subject_id: 'a', expires_at });
    await api.assignment({ ...given, subject_id: 'b' });
    await api.send('POST', '/relations/batch', {
      body: {
        writes: Array.from({ length: 1500 }, (_, n) => ({
          ...tuple(`document:${n}#viewer@user:a`),
          expires_at,
        })),
      },
    });
    await api.relation('document:1#owner@user:a');
    await expire(api);
    const { revision } = await counters(api);

    await runSweep(expiredSweep(database()));
    expect(await counters(api)).toEqual({ revision, assignments: 1, tuples: 1 });
    const { sql } = database();
    expect(await sql`select 1 from authz.relations where tenant_id = ${api.tenant}`).toHaveLength(1);
    const events = await sql<{ type: string; subject: string }[]>`
      select type, subject from authz.outbox where tenant_id = ${api.tenant} and type like '%.expired'`;
    expect(events).toHaveLength(1501);
    expect(events).toContainEqual({ type: 'authz.assignment.expired', subject: assignment.id });
  });
});

describe('a role with 100,000 assignments', () => {
  it('is deleted at once: nothing grants or is listed from then on, and the rows go in the background', async () => {
    const api = tools(server);
    const role = await api.role({ name: 'Crowd' });
    const permission = await api.permission({ resource: 'page', action: 'read' });
    await api.attach(role.id, permission.id);
    const { sql } = database();
    await sql`
      insert into authz.assignments
        (id, tenant_id, app_id, role_id, subject_kind, subject_id, created_by, revision)
      select 'asgn_0' || lpad(n::text, 25, '0'), ${api.tenant}, 'default', ${role.id}, 'user', 'u' || n, 'root', 1
      from generate_series(1, 100000) n`;
    await sql`update authz.tenants set assignments = 100000 where tenant_id = ${api.tenant}`;
    expect((await api.check('user:u99999', 'read', 'page:1')).allowed).toBe(true);

    expect((await api.request('DELETE', `/roles/${role.id}`)).status).toBe(204);
    expect((await api.check('user:u99999', 'read', 'page:1')).allowed).toBe(false);
    expect(await api.send('GET', '/subjects/user/u1/roles')).toEqual([]);
    expect(await api.send('GET', `/assignments?role_id=${role.id}`)).toEqual([]);
    expect((await counters(api)).assignments).toBe(100_000);

    await runSweep(goneRolesSweep(database()));
    expect((await counters(api)).assignments).toBe(0);
    expect(await sql`select 1 from authz.assignments where tenant_id = ${api.tenant}`).toHaveLength(0);
    expect(await sql`select 1 from authz.gone_roles where tenant_id = ${api.tenant}`).toHaveLength(0);
  }, 120_000);
});

it('removes old changes and remembers how far back the log still goes', async () => {
  const api = tools(server);
  for (let n = 1; n <= 3; n += 1) await api.relation(`document:${n}#viewer@user:a`);
  const { sql } = database();
  await sql`update authz.changes set created_at = now() - interval '2 hours'
    where tenant_id = ${api.tenant} and revision <= 2`;
  await runSweep(changesSweep(database(), 3_600_000));
  const [{ floor_revision }] = await sql<[{ floor_revision: number }]>`
    select floor_revision from authz.tenants where tenant_id = ${api.tenant}`;
  const rows = await sql<
    { revision: number }[]
  >`select revision from authz.changes where tenant_id = ${api.tenant}`;
  expect([floor_revision, rows]).toEqual([2, [{ revision: 3 }]]);
});
