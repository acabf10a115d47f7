import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Key } from '../../../generated/keys/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

describe('list', () => {
  it('filters by state, environment, policy, owner and scope', async () => {
    const tenant = 'filters';
    const { id: policy_id } = await api.policy({}, { tenant });
    const found = async (query: string) =>
      (await api.send('GET', `/keys?${query}`, { tenant })).map(({ name }: { name: string }) => name);
    await api.issue({ name: 'a', environment: 'test', owner_id: 'o1', scopes: ['x:1'] }, { tenant });
    const { key } = await api.issue(
      { name: 'b', policy_id, owner_id: 'o2', scopes: ['x:1', 'x:2'] },
      { tenant },
    );
    await api.send('POST', `/keys/${key.id}/suspend`, { tenant });
    expect(await found('')).toEqual(['b', 'a']);
    expect(await found('state=suspended')).toEqual(['b']);
    expect(await found('state=active')).toEqual(['a']);
    expect(await found('environment=test')).toEqual(['a']);
    expect(await found(`policy_id=${policy_id}`)).toEqual(['b']);
    expect(await found('owner_id=o2')).toEqual(['b']);
    expect(await found('scope=x:1')).toEqual(['b', 'a']);
    expect(await found('scope=x:2&state=active')).toEqual([]);
  });

  it('knows the state of a key whose end has passed, stored or not', async () => {
    const tenant = 'ended';
    const found = async (state: string): Promise<string[]> => {
      const keys: Key[] = await api.send('GET', `/keys?state=${state}`, { tenant });
      return keys.map(({ name }) => name);
    };
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((name) => api.issue({ name }, { tenant })));
    const [a, b, c, d] = made.map(({ key }) => key.id);
    for (const id of [b, c]) await api.send('POST', `/keys/${id}/suspend`, { tenant });
    await api.send('POST', `/keys/${d}/revoke`, { tenant });
    await server.db.sql`update keys.keys set expires_at = now() where id in (${a!}, ${b!}, ${d!})`;
    expect(await found('active')).toEqual([]);
    expect((await found('expired')).sort()).toEqual(['a', 'b']);
    expect(await found('suspended')).toEqual(['c']);
    expect(await found('revoked')).toEqual(['d']);
  });

  it('skips by offset, and refuses an offset with a cursor', async () => {
    const tenant = 'offsets';
    for (const name of ['a', 'b', 'c']) await api.issue({ name }, { tenant });
    const { headers, body } = await server.request('GET', '/keys/v1/keys?limit=1&offset=1', { tenant });
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['b']);
    const cursor = headers.get('x-next-cursor');
    const [status, error] = await api.refusal('GET', `/keys?offset=1&cursor=${cursor}`, { tenant });
    expect([status, error]).toEqual([400, 'cursor: cannot be combined with offset']);
  });

  it('says where the next page begins exactly when more follow', async () => {
    const tenant = 'ends';
    await Promise.all(['a', 'b'].map((name) => api.issue({ name }, { tenant })));
    const next = async (limit: number) =>
      (await server.request('GET', `/keys/v1/keys?limit=${limit}`, { tenant })).headers.get('x-next-cursor');
    expect(await next(1)).not.toBeNull();
    expect(await next(2)).toBeNull();
  });

  it('a walk by cursor meets every key that stays once, while others come and go', async () => {
    const tenant = 'walk';
    await server.db.sql`
      insert into keys.keys
        (id, tenant_id, app_id, name, description, prefix, environment, hint, scopes, metadata, created_by, created_at)
      select 'key_' || lpad(n::text, 26, '0'), ${tenant}, 'default', 'k' || n, '', 'sk', 'live', 'abcd', '{}', '{}', 'root',
        now() - (n / 10) * interval '1 second'
      from generate_series(1, 10000) as n`;
    const seen: string[] = [];
    let query = 'limit=1000';
    for (;;) {
      const { headers, body } = await server.request('GET', `/keys/v1/keys?${query}`, { tenant });
      seen.push(...body.map(({ name }: { name: string }) => name));
      const cursor = headers.get('x-next-cursor');
      if (cursor === null) break;
      query = `limit=1000&cursor=${cursor}`;
      await api.issue({ name: 'new' }, { tenant });
      await api.send('DELETE', `/keys/${body[500].id}`, { tenant });
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((name) => name !== 'new')).toHaveLength(10_000);
  });

  it('never reads "validate" as an id', async () => {
    expect((await server.request('GET', '/keys/v1/keys/validate')).status).toBe(405);
    expect((await server.request('DELETE', '/keys/v1/keys/validate')).status).toBe(405);
  });
});
