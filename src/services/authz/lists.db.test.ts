import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Permission, Relation } from '../../../generated/authz/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools, type Tools, tuple } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

/** Walks a list to its end; `between` runs after every page. */
async function walk(api: Tools, path: string, between: () => Promise<unknown>): Promise<Relation[]> {
  const found: Relation[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const response = await api.request('GET', `${path}limit=1000${cursor && `&cursor=${cursor}`}`);
    expect(response.status, response.text).toBe(200);
    found.push(...(response.body as Relation[]));
    cursor = response.headers.get('x-next-cursor');
    await between();
  }
  return found;
}

async function fill(api: Tools, count: number): Promise<void> {
  const tuples = Array.from({ length: count }, (_, n) =>
    tuple(`document:${String(n).padStart(6, '0')}#viewer@user:a`),
  );
  for (let from = 0; from < count; from += 2000)
    await api.send('POST', '/relations/batch', { body: { writes: tuples.slice(from, from + 2000) } });
}

it('gives every stable record of 10,000 exactly once while others come and go', async () => {
  const api = tools(server);
  await fill(api, 10_000);
  let round = 0;
  const found = await walk(api, '/relations?', async () => {
    round += 1;
    const victim = `${String(round * 900).padStart(6, '0')}`;
    await api.send('POST', '/relations/batch', {
      body: {
        writes: [tuple(`document:${victim}x#viewer@user:a`), tuple(`archive:${round}#viewer@user:a`)],
        deletes: [tuple(`document:${victim}#viewer@user:a`)],
      },
    });
  });
  const ids = found.map(({ object_id }) => object_id);
  expect(new Set(ids).size).toBe(ids.length);
  const gone = new Set(Array.from({ length: round }, (_, n) => String((n + 1) * 900).padStart(6, '0')));
  const stable = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(6, '0')).filter(
    (id) => !gone.has(id),
  );
  const seen = new Set(ids);
  expect(stable.filter((id) => !seen.has(id))).toEqual([]);
}, 60_000);

it('walks a list that is newest first past inserts and deletes', async () => {
  const api = tools(server);
  const made: Permission[] = [];
  for (let n = 0; n < 25; n += 1) made.push(await api.permission({ resource: 'document', action: `a${n}` }));
  const found: Permission[] = [];
  let cursor = '';
  for (let page = 0; ; page += 1) {
    const response = await api.request('GET', `/permissions?limit=10${cursor}`);
    found.push(...(response.body as Permission[]));
    const next = response.headers.get('x-next-cursor');
    if (next === null) break;
    cursor = `&cursor=${next}`;
    await api.permission({ resource: 'new', action: `p${page}` });
    await api.send('DELETE', `/permissions/${found.at(-1)?.id}`);
  }
  expect(found.map(({ id }) => id)).toEqual(made.map(({ id }) => id).reverse());
});

it('ends a page short after 20,000 rows looked at, and the cursor leads on to what matches', async () => {
  const api = tools(server);
  const role = await api.role({ name: 'R' });
  const first = await api.assignment({
    role_id: role.id,
    subject_kind: 'robot',
    subject_id: 'r',
  });
  await server.db.sql`
    insert into authz.assignments
      (id, tenant_id, app_id, role_id, subject_kind, subject_id, created_by, revision)
    select 'asgn_7' || lpad(n::text, 25, '0'), ${api.tenant}, 'default', ${role.id}, 'user', 'u' || n, 'root', 1
    from generate_series(1, 20500) n`;
  const short = await api.request('GET', '/assignments?subject_kind=robot');
  expect(short.body).toEqual([]);
  const cursor = short.headers.get('x-next-cursor');
  expect(cursor).not.toBeNull();
  const rest = await api.request('GET', `/assignments?subject_kind=robot&cursor=${cursor}`);
  expect([rest.body, rest.headers.get('x-next-cursor')]).toEqual([[first], null]);
}, 60_000);

it.each(['roles', 'permissions', 'assignments', 'policies', 'resource-types'])(
  'refuses a cursor of %s that it did not give, and one with an offset',
  async (path) => {
    const api = tools(server);
    expect((await api.refusal('GET', `/${path}?cursor=e30`))[1]).toBe(
      'cursor: must be one that this list gave',
    );
    expect((await api.refusal('GET', `/${path}?cursor=e30&offset=1`))[1]).toBe(
      'cursor: cannot be combined with offset',
    );
    expect((await api.request('GET', `/${path}?limit=1001`)).status).toBe(400);
    expect((await api.refusal('GET', `/${path}?limt=1`))[1]).toBe('limt: unknown');
  },
);

it('lists public access: whoever is not known is allowed too', async () => {
  const api = tools(server);
  await api.relation('document:1#viewer@user:*');
  await api.relation('document:1#viewer@user:a');
  await api.relation('document:2#viewer@user:b');
  const list = async (resource_id: string) =>
    (await api.send('POST', '/authz/list-subjects', {
      body: { subject_kind: 'user', action: 'viewer', resource_type: 'document', resource_id },
    })) as object;
  expect(await list('1')).toMatchObject({ subject_ids: ['a', 'b'], all: true, others: true, complete: true });
  expect(await list('2')).toMatchObject({ subject_ids: ['b'], all: false, others: false, complete: true });
});
