import { expect, it } from 'vitest';
import type { Relation } from '../../../generated/authz/types.ts';
import { authzServer, type Client, type Stored, tuple } from './testing.ts';

const authz = authzServer();

/** Walks a list to its end; `between` runs after every page. */
async function walk(client: Client, path: string, between: () => Promise<unknown>): Promise<Relation[]> {
  const found: Relation[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const response = await client.get(`${path}limit=1000${cursor && `&cursor=${cursor}`}`);
    expect(response.status, response.text).toBe(200);
    found.push(...(response.body as Relation[]));
    cursor = response.headers.get('x-next-cursor');
    await between();
  }
  return found;
}

async function fill(client: Client, count: number): Promise<void> {
  const tuples = Array.from({ length: count }, (_, n) =>
    tuple(`document:${String(n).padStart(6, '0')}#viewer@user:a`),
  );
  for (let from = 0; from < count; from += 2000)
    await client.post('/relations/batch', { writes: tuples.slice(from, from + 2000) });
}

it('gives every stable record of 10,000 exactly once while others come and go', async () => {
  const client = authz.tenant();
  await fill(client, 10_000);
  let round = 0;
  const found = await walk(client, '/relations?', async () => {
    round += 1;
    const victim = `${String(round * 900).padStart(6, '0')}`;
    await client.post('/relations/batch', {
      writes: [tuple(`document:${victim}x#viewer@user:a`), tuple(`archive:${round}#viewer@user:a`)],
      deletes: [tuple(`document:${victim}#viewer@user:a`)],
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
  const client = authz.tenant();
  const made: Stored[] = [];
  for (let n = 0; n < 25; n += 1)
    made.push(await client.create('/permissions', { resource: 'document', action: `a${n}` }));
  const found: Stored[] = [];
  let cursor = '';
  for (let page = 0; ; page += 1) {
    const response = await client.get(`/permissions?limit=10${cursor}`);
    found.push(...(response.body as Stored[]));
    const next = response.headers.get('x-next-cursor');
    if (next === null) break;
    cursor = `&cursor=${next}`;
    await client.create('/permissions', { resource: 'new', action: `p${page}` });
    await client.delete(`/permissions/${found.at(-1)?.id}`);
  }
  expect(found.map(({ id }) => id)).toEqual(made.map(({ id }) => id).reverse());
});

it('ends a page short after 20,000 rows looked at, and the cursor leads on to what matches', async () => {
  const client = authz.tenant();
  const role = await client.create('/roles', { name: 'R' });
  const first = await client.create('/assignments', {
    role_id: role.id,
    subject_kind: 'robot',
    subject_id: 'r',
  });
  await authz.server.db.sql`
    insert into authz.assignments
      (id, tenant_id, app_id, role_id, subject_kind, subject_id, created_by, revision)
    select 'asgn_7' || lpad(n::text, 25, '0'), ${client.name}, 'default', ${role.id}, 'user', 'u' || n, 'root', 1
    from generate_series(1, 20500) n`;
  const short = await client.get('/assignments?subject_kind=robot');
  expect(short.body).toEqual([]);
  const cursor = short.headers.get('x-next-cursor');
  expect(cursor).not.toBeNull();
  const rest = await client.get(`/assignments?subject_kind=robot&cursor=${cursor}`);
  expect([rest.body, rest.headers.get('x-next-cursor')]).toEqual([[first], null]);
}, 60_000);

it.each(['roles', 'permissions', 'assignments', 'policies', 'resource-types'])(
  'refuses a cursor of %s that it did not give, and one with an offset',
  async (path) => {
    const { get } = authz.tenant();
    expect((await get(`/${path}?cursor=e30`)).body.error.message).toBe(
      'cursor: must be one that this list gave',
    );
    expect((await get(`/${path}?cursor=e30&offset=1`)).body.error.message).toBe(
      'cursor: not together with offset',
    );
    expect((await get(`/${path}?limit=1001`)).status).toBe(400);
    expect((await get(`/${path}?limt=1`)).body.error.message).toBe('limt: unknown');
  },
);

it('lists public access: whoever is not known is allowed too', async () => {
  const { create, post } = authz.tenant();
  await create('/relations', tuple('document:1#viewer@user:*'));
  await create('/relations', tuple('document:1#viewer@user:a'));
  await create('/relations', tuple('document:2#viewer@user:b'));
  const list = async (resource_id: string) =>
    (
      await post('/authz/list-subjects', {
        ...{ subject_kind: 'user', action: 'viewer', resource_type: 'document', resource_id },
      })
    ).body as object;
  expect(await list('1')).toMatchObject({ subject_ids: ['a', 'b'], all: true, others: true, complete: true });
  expect(await list('2')).toMatchObject({ subject_ids: ['b'], all: false, others: false, complete: true });
});
