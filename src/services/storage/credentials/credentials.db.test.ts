import { afterAll, beforeAll, expect, test } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['storage', 'keys'] });
});
afterAll(() => server.close());

const path = '/storage/store/v1/s3-credentials';
const scopes = ['storage:read', 'storage:write'];
const create = (body: object, options: object = {}) =>
  server.request('POST', path, { body, tenant: 'acme', ...options });

async function apiKey(scopes: string[]): Promise<string> {
  const created = await server.request('POST', '/keys/v1/keys', {
    body: { name: 'k', scopes },
    tenant: 'acme',
  });
  expect(created.status).toBe(201);
  return created.body.raw_key;
}

test('the secret is shown once, and is nowhere in the database', async () => {
  const { status, body, headers } = await create({ scopes });
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
  expect(body).toMatchObject({ tenant_id: 'acme', scopes, bucket: null, created_by: 'root' });
  const { secret_access_key, ...shown } = body;
  const list = await server.request('GET', path, { tenant: 'acme' });
  expect(list.body.credentials).toContainEqual(shown);
  expect(list.text).not.toContain(secret_access_key);
  const rows = await server.db.sql<{ text: string }[]>`
    select encode(secret, 'escape') || ' ' || encode(secret, 'hex') as text from storage.s3_credentials`;
  const events = await server.db.sql<{ text: string }[]>`select data::text as text from storage.outbox`;
  for (const { text } of [...rows, ...events]) {
    expect(text).not.toContain(secret_access_key);
    expect(text).not.toContain(Buffer.from(secret_access_key).toString('hex'));
  }
});

test('a key never has more rights than its creator, who must be an admin', async () => {
  const only = async (held: string[], asked: string[]) =>
    (await create({ scopes: asked }, { token: null, tenant: undefined, apiKey: await apiKey(held) })).status;
  expect(await only(scopes, ['storage:read'])).toBe(403);
  expect(await only(['storage:admin', 'storage:read'], ['storage:read'])).toBe(201);
  expect(await only(['storage:admin', 'storage:read'], ['storage:write'])).toBe(403);
  expect(await only(['storage:admin', 'storage:read'], ['storage:admin'])).toBe(403);
  expect(await only(['storage:*'], ['storage:admin'])).toBe(201);
});

test("a key is bound to a bucket by its name or id, and to no other tenant's", async () => {
  const bucket = await server.request('POST', '/storage/store/v1/buckets', {
    body: { name: 'bound' },
    tenant: 'acme',
  });
  for (const ref of ['bound', bucket.body.id])
    expect((await create({ scopes, bucket: ref })).body.bucket).toBe('bound');
  expect((await create({ scopes, bucket: 'bound' }, { tenant: 'globex' })).body).toEqual({
    error: 'bucket not found',
    code: 404,
  });
  expect((await create({ scopes, bucket: 'absent' }, { tenant: 'globex' })).body).toEqual({
    error: 'bucket not found',
    code: 404,
  });
});

test('a tenant sees and deletes only its own', async () => {
  const { body } = await create({ scopes });
  const away = await server.request('DELETE', `${path}/${body.access_key_id}`, { tenant: 'globex' });
  const absent = await server.request('DELETE', `${path}/PLKAAAAAAAAAAAAAAAAA`, { tenant: 'globex' });
  expect([away.status, away.text]).toEqual([404, absent.text]);
  expect((await server.request('GET', path, { tenant: 'globex' })).text).not.toContain(body.access_key_id);
  const own = await server.request('DELETE', `${path}/${body.access_key_id}`, { tenant: 'acme' });
  expect(own.status).toBe(204);
  expect((await server.request('DELETE', `${path}/${body.access_key_id}`, { tenant: 'acme' })).status).toBe(
    404,
  );
});

test('a tenant has at most 100, however many are created at once', async () => {
  await server.db.sql`
    insert into storage.s3_credentials (tenant_id, access_key_id, app_id, secret, scopes, created_by)
    select 'many', 'PLK' || lpad(translate(number::text, '0189', 'ABCD'), 17, 'A'), 'default', '', '{storage:read}', 'root'
    from generate_series(1, 95) as each(number)`;
  const all = await Promise.all(Array.from({ length: 10 }, () => create({ scopes }, { tenant: 'many' })));
  const refused = all.filter(({ status }) => status !== 201);
  expect(refused.map(({ body }) => body)).toEqual(
    Array(5).fill({ error: 'limit reached: 100 access keys', code: 409 }),
  );
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await server.request('GET', `${path}?limit=40${query}`, { tenant: 'many' });
    pages.push(...body.credentials.map((one: { access_key_id: string }) => one.access_key_id));
    cursor = body.cursor;
  }
  expect([pages.length, new Set(pages).size]).toEqual([100, 100]);
  expect((await server.request('DELETE', `${path}/${pages[0]}`, { tenant: 'many' })).status).toBe(204);
  expect((await create({ scopes }, { tenant: 'many' })).status).toBe(201);
});

test.each([
  [{}, 'scopes: required'],
  [{ scopes: [] }, 'scopes: '],
  [{ scopes: ['storage:read', 'other'] }, 'scopes[1]: '],
  [{ scopes, other: 1 }, 'other: unknown'],
  [{ scopes, bucket: '-' }, 'invalid bucket name'],
])('%j is refused', async (body, problem) => {
  const { status, body: answer } = await create(body);
  expect([status, answer.error.slice(0, problem.length)]).toEqual([400, problem]);
});
