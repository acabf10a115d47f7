import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../../generated/keys/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const create = (name: string, body: object = {}) => api.send('POST', '/scopes', { body: { name, ...body } });

describe('create', () => {
  it('registers a name', async () => {
    const scope = await create('read:users', { description: 'Read user profiles' });
    expect(scope).toMatchObject({
      name: 'read:users',
      description: 'Read user profiles',
      tenant_id: 'default',
    });
    expect(await api.send('GET', `/scopes/${scope.id}`)).toEqual(scope);
  });

  it.each(['*', 'a', 'a:*', 'a:b:*', 'a:b:c:d', 'a:b:c:d:*', 'A.b_c/d-e:1', 'a'.repeat(63)])(
    'takes the name %s',
    async (name) => {
      expect((await create(name)).name).toBe(name);
    },
  );

  it.each(['', ' ', ':a', 'a:', 'a::b', '**', 'a:*:b', 'a*', 'a:b:c:d:e', 'a b', 'ä', 'a'.repeat(64), 'a\n'])(
    '400 for the name %j',
    async (name) => {
      const [status, error] = await api.refusal('POST', '/scopes', { body: { name } });
      expect(status).toBe(400);
      expect(error).toMatch(/^name/);
    },
  );

  it('of fifty at once with one name, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => server.request('POST', '/keys/v1/scopes', { body: { name: 'same' } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body)).toEqual(
      Array(49).fill({ error: 'scope name already exists', code: 'CONFLICT' }),
    );
  });
});

describe('list', () => {
  it('answers the scopes by name, page by page', async () => {
    const tenant = 'pages';
    for (const name of ['b', 'a:x', 'a', 'B']) await api.send('POST', '/scopes', { body: { name }, tenant });
    const names = (body: { name: string }[]) => body.map(({ name }) => name);
    const first = await server.request('GET', '/keys/v1/scopes?limit=3', { tenant });
    const cursor = first.headers.get('x-next-cursor');
    const rest = await server.request('GET', `/keys/v1/scopes?cursor=${cursor}`, { tenant });
    expect([names(first.body), names(rest.body)]).toEqual([['B', 'a', 'a:x'], ['b']]);
  });
});

describe('delete', () => {
  it('takes the scope from every key that holds it, and from answers that are kept', async () => {
    const scope = await create('gone:soon');
    const { raw_key, key } = await api.issue({ scopes: ['gone:soon', 'stays'] });
    const ask = () => api.judge(raw_key, { required_scopes: ['gone:soon'] });
    expect((await ask()).code).toBe('VALID');
    await api.send('DELETE', `/scopes/${scope.id}`);
    expect(await ask()).toMatchObject({ code: 'INSUFFICIENT_SCOPES', scopes: ['stays'] });
    expect((await api.key(key.id)).scopes).toEqual(['stays']);
    expect(await api.refusal('DELETE', `/scopes/${scope.id}`)).toEqual([404, 'scope not found']);
  });

  it('against its assignment never leaves a key with a scope that is not registered', async () => {
    for (let round = 0; round < 25; round++) {
      const scope = await create(`race:${round}`);
      const { key } = await api.issue();
      await Promise.all([
        api.send('POST', `/keys/${key.id}/scopes`, { body: { scopes: [scope.name] } }),
        api.send('DELETE', `/scopes/${scope.id}`),
      ]);
    }
    const [{ count }] = await server.db.sql<[{ count: number }]>`
      select count(*) from keys.keys k, unnest(k.scopes) as held
      where held like 'race:%' and not exists (
        select from keys.scopes s where s.tenant_id = k.tenant_id and s.name = held
      )`;
    expect(count).toBe(0);
  });

  it('of scopes that the same keys hold succeeds for all of them at once', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `shared:${index}`);
    const { key } = await api.issue({ scopes: names });
    await Promise.all(Array.from({ length: 40 }, () => api.issue({ scopes: names })));
    const scopes: Scope[] = await api.send('GET', '/scopes?limit=1000');
    const shared = scopes.filter(({ name }) => name.startsWith('shared:'));
    await Promise.all(shared.map(({ id }) => api.send('DELETE', `/scopes/${id}`)));
    expect(shared).toHaveLength(8);
    expect((await api.key(key.id)).scopes).toEqual([]);
  });

  it('409 when more than 10,000 keys hold it, and takes it from none', async () => {
    const tenant = 'crowd';
    const scope = await api.send('POST', '/scopes', { body: { name: 'popular' }, tenant });
    await server.db.sql`
      insert into keys.keys
        (id, tenant_id, app_id, name, description, prefix, environment, hint, scopes, metadata, created_by)
      select 'key_' || lpad(n::text, 26, '0'), ${tenant}, 'default', 'k', '', 'sk', 'live', 'abcd', '{popular}', '{}', 'root'
      from generate_series(1, 10001) as n`;
    const remove = () => api.refusal('DELETE', `/scopes/${scope.id}`, { tenant });
    expect(await remove()).toEqual([409, 'scope is held by more than 10000 keys']);
    expect(await api.send('GET', `/scopes/${scope.id}`, { tenant })).toEqual(scope);
    await api.send('DELETE', '/keys/key_00000000000000000000000001', { tenant });
    expect((await remove())[0]).toBe(204);
    expect(await api.send('GET', '/keys?scope=popular', { tenant })).toEqual([]);
  });
});
