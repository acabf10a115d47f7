import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, question, tools, tuple } from './testing.ts';

const modelMemory = 16_777_216;
let server: TestServer;
beforeAll(async () => {
  server = await testServer({
    services: ['authz'],
    env: { PLINTH_AUTHZ_MEMORY: String(modelMemory), PLINTH_AUTHZ_MAX_VISITS: '1000' },
  });
});
afterAll(() => server.close());

/** As many facts as fit into the time that the embedded engine needs to store them. */
const [tupleCount, assignmentCount] =
  inject('engine') === 'postgres' ? [1_000_000, 100_000] : [50_000, 5_000];

/** Fills a tenant directly in the database: a group with nearly all tuples, and a role with all assignments. */
async function fill(tenant: string, roleId: string): Promise<void> {
  const chunk = 50_000;
  const { sql } = server.db;
  for (let from = 0; from < tupleCount; from += chunk) {
    await sql`
      insert into authz.relations (
        id, tenant_id, app_id, object_type, object_id, relation, subject_type, subject_id, subject_relation, revision
      )
      select 'rel_' || n, ${tenant}, 'default', 'group', 'all', 'member', 'user', 'u' || n, '', 1
      from generate_series(${from + 1}::int, ${from + chunk}::int) n`;
  }
  await sql`
    insert into authz.assignments (id, tenant_id, app_id, role_id, subject_kind, subject_id, created_by, revision)
    select 'asgn_' || n, ${tenant}, 'default', ${roleId}, 'user', 'u' || n, 'root', 1
    from generate_series(1, ${assignmentCount}::int) n`;
  await sql`
    update authz.tenants set tuples = tuples + ${tupleCount}, assignments = assignments + ${assignmentCount}
    where tenant_id = ${tenant}`;
}

it('decides in a tenant with a million tuples from a few rows each, within its memory', async () => {
  const api = tools(server);
  const role = await api.role({ name: 'Reader' });
  const permission = await api.permission({ resource: 'page', action: 'read' });
  await api.attach(role.id, permission.id);
  await api.relation('document:1#read@group:all#member');
  await fill(api.tenant, role.id);

  // Ten thousand different questions, most of whose slices have to be evicted again.
  for (let from = 1; from < 10_000; from += 500) {
    const users = Array.from({ length: 500 }, (_, n) => from + n * 7);
    const checks = users.flatMap((n) => [
      question(`user:u${n}`, 'read', 'document:1'),
      question(`user:u${n}`, 'read', 'page:1'),
      question(`user:x${n}`, 'read', 'document:1'),
    ]);
    const results = await Promise.all(
      [0, 1].map((half) =>
        api.request('POST', '/authz/batch-check', {
          body: { checks: checks.slice(half * 750, half * 750 + 750) },
        }),
      ),
    );
    const allowed = results.flatMap(({ body }) => pluck(body.results, 'allowed'));
    expect(allowed).toEqual(users.flatMap((n) => [n <= tupleCount, n <= assignmentCount, false]));
  }
}, 240_000);

it('denies with the reason where a graph is wider than MAX_VISITS, also what an exclusion would allow', async () => {
  const api = tools(server);
  await api.resourceType({
    name: 'page',
    relations: [
      { name: 'viewer', subjects: ['user'] },
      { name: 'banned', subjects: ['group#member'] },
    ],
    permissions: [{ name: 'read', expression: 'viewer - banned' }],
  });
  const groups = Array.from({ length: 1500 }, (_, n) => n);
  await api.send('POST', '/relations/batch', {
    body: { writes: groups.map((n) => tuple(`document:1#read@group:g${n}#member`)) },
  });
  await api.send('POST', '/relations/batch', {
    body: { writes: groups.map((n) => tuple(`page:1#banned@group:g${n}#member`)) },
  });
  await api.relation('page:1#viewer@user:a');
  const reason = 'evaluation limit reached: visits';
  expect(await api.check('user:a', 'read', 'document:1')).toMatchObject({
    allowed: false,
    sources: ['rebac'],
    reason,
  });
  expect(await api.check('user:a', 'read', 'page:1')).toMatchObject({
    allowed: false,
    sources: ['rebac'],
    reason,
  });
});
