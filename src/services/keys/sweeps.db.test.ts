import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { runSweep } from '../../db/sweeps.ts';
import { expirySweep, remainsSweep } from './sweeps.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
const events = async (id: string) =>
  (
    await server.db.sql<{ type: string; data: { days?: number } }[]>`
      select type, data from keys.outbox where subject = ${id} and type like 'keys.key.expir%' order by seq`
  ).map(({ type, data }) => [type, data.days]);

describe('the sweep of expiry', () => {
  it('stores that a key has expired and tells it once', async () => {
    const { key } = await api.issue({ expires_at: hours(1000) });
    const { key: suspended } = await api.issue({ expires_at: hours(1000) });
    await api.send('POST', `/keys/${suspended.id}/suspend`);
    const both = [key.id, suspended.id];
    await server.db.sql`update keys.keys set expires_at = now() where id = any(${both}::text[])`;
    await runSweep(expirySweep(server.db));
    await runSweep(expirySweep(server.db));
    const stored = await server.db.sql`select distinct state from keys.keys where id = any(${both}::text[])`;
    expect([...stored]).toEqual([{ state: 'expired' }]);
    for (const id of both) expect(await events(id)).toEqual([['keys.key.expired', undefined]]);
    expect((await api.send('PATCH', `/keys/${suspended.id}`, { body: { expires_at: null } })).state).toBe(
      'suspended',
    );
  });

  it('warns a week and a day before the end, each once, and anew for another end', async () => {
    const { key } = await api.issue({ expires_at: hours(6 * 24) });
    const { key: far } = await api.issue({ expires_at: hours(8 * 24) });
    const sweep = async (expires_at: string) => {
      await server.db.sql`update keys.keys set expires_at = ${expires_at} where id = ${key.id}`;
      await runSweep(expirySweep(server.db));
      await runSweep(expirySweep(server.db));
      return events(key.id);
    };
    expect(await sweep(key.expires_at!)).toEqual([['keys.key.expiring', 7]]);
    expect(await sweep(hours(20))).toHaveLength(2);
    expect((await events(key.id)).at(-1)).toEqual(['keys.key.expiring', 1]);
    expect(await sweep(hours(5 * 24))).toHaveLength(3);
    expect(await events(far.id)).toEqual([]);
  });

  it('warns once more when the same end comes nearer', async () => {
    const { key } = await api.issue({ expires_at: hours(23) });
    await server.db.sql`update keys.keys set warned_for = expires_at, warned_days = 7 where id = ${key.id}`;
    await runSweep(expirySweep(server.db));
    await runSweep(expirySweep(server.db));
    expect(await events(key.id)).toEqual([['keys.key.expiring', 1]]);
  });

  it('warns before a raw key gets too old, and not after it was rotated', async () => {
    const { id: policy_id } = await api.policy({ max_key_age: '240h' });
    const { key } = await api.issue({ policy_id });
    await runSweep(expirySweep(server.db));
    expect(await events(key.id)).toEqual([]);
    await server.db
      .sql`update keys.keys set secret_created_at = now() - interval '200 hours' where id = ${key.id}`;
    await runSweep(expirySweep(server.db));
    expect(await events(key.id)).toEqual([['keys.key.expiring', 7]]);
    await api.send('POST', `/keys/${key.id}/rotate`);
    await runSweep(expirySweep(server.db));
    expect(await events(key.id)).toHaveLength(1);
  });

  it('takes more keys than one batch holds', async () => {
    const tenant = 'many';
    await server.db.sql`
      insert into keys.keys
        (id, tenant_id, app_id, name, description, prefix, environment, hint, scopes, metadata, created_by, expires_at)
      select 'key_' || lpad(n::text, 26, '0'), ${tenant}, 'default', 'k', '', 'sk', 'live', 'abcd', '{}', '{}', 'root', now()
      from generate_series(1, 1200) as n`;
    await runSweep(expirySweep(server.db));
    const [{ count }] = await server.db.sql<[{ count: number }]>`
      select count(*) from keys.outbox where tenant_id = ${tenant} and type = 'keys.key.expired'`;
    expect(count).toBe(1200);
  });
});

describe('the sweep of remains', () => {
  it('forgets hashes that have been dead for 30 days, and no younger ones', async () => {
    const { raw_key, key } = await api.issue();
    await api.send('POST', `/keys/${key.id}/rotate`, { body: { grace_period: '0s' } });
    const age = (days: number) => server.db.sql`
      update keys.secrets set dead_at = now() - ${days} * interval '1 day', grace_ends_at = now() - ${days} * interval '1 day'
      where key_id = ${key.id} and dead_at is not null`;
    await age(29);
    await runSweep(remainsSweep(server.db));
    expect((await api.judge(raw_key)).code).toBe('ROTATED');
    await age(31);
    await runSweep(remainsSweep(server.db));
    const left = await server.db.sql`select hint from keys.secrets where key_id = ${key.id}`;
    expect(left).toHaveLength(1);
  });

  it('forgets deleted keys once nothing of their usage is left', async () => {
    const [used, unused] = await Promise.all([api.issue(), api.issue()]);
    await api.judge(used.raw_key, { record: 'durable' });
    await api.send('GET', '/usage');
    const both = [used.key.id, unused.key.id];
    for (const id of both) await api.send('DELETE', `/keys/${id}`);
    await runSweep(remainsSweep(server.db));
    await server.db
      .sql`update keys.keys set deleted_at = now() - interval '2 days' where id = any(${both}::text[])`;
    await runSweep(remainsSweep(server.db));
    const left = await server.db.sql<
      { id: string }[]
    >`select id from keys.keys where id = any(${both}::text[])`;
    expect(left.map(({ id }) => id)).toEqual([used.key.id]);
  });
});
