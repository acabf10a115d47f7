/** Tests that rows that are removed, added, moved or cut off are found. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../db/index.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { keepEvents, tamper } from '../testing.store.ts';
import { inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
  await keepEvents(server.db);
});
afterAll(() => server.close());

let tenants = 0;

/** A chain of eight events, changed. */
async function chain(change: (sql: Sql, tenant: string) => Promise<unknown> = () => Promise.resolve()) {
  const tenant = `rows-${(tenants += 1)}`;
  await api.batch(
    Array.from({ length: 8 }, (_, n) => ({ user_id: `usr_${n}` })),
    inTenant(tenant),
  );
  await tamper(server.db, (sql) => change(sql, tenant));
  return { tenant, verify: (body: object = {}) => api.verify(body, inTenant(tenant)) };
}

const remove =
  (...sequences: number[]) =>
  (sql: Sql, tenant: string) =>
    sql`delete from audit.events where tenant_id = ${tenant} and sequence = any(${sequences}::bigint[])`;

/** Copies a row to another place. */
const copy = (from: number, to: number) => (sql: Sql, tenant: string) => sql`
  insert into audit.events select (jsonb_populate_record(event, jsonb_build_object('sequence', ${to}::bigint, 'id', event.id || 'x'))).*
  from audit.events as event where tenant_id = ${tenant} and sequence = ${from}`;

const move = (from: number, to: number) => (sql: Sql, tenant: string) =>
  sql`update audit.events set sequence = ${to} where tenant_id = ${tenant} and sequence = ${from}`;

const headTo = (sequence: number) => (sql: Sql, tenant: string) => sql`
  update audit.streams set head_seq = ${sequence}, head_hash = events.hash from audit.events
  where streams.tenant_id = ${tenant} and events.tenant_id = ${tenant} and events.sequence = ${sequence}`;

describe('a chain', () => {
  it('is valid when nothing was changed, as a whole and in part', async () => {
    const { verify } = await chain();
    const whole = await verify();
    expect(whole).toMatchObject({ valid: true, verified: 8, first_event: 1, last_event: 8, gap_count: 0 });
    expect(await verify({ from_seq: 3, to_seq: 5 })).toMatchObject({
      ...{ valid: true, verified: 3, first_event: 3, last_event: 5, head_hash: whole.head_hash },
    });
    expect(await verify({ from_seq: 8 })).toMatchObject({ valid: true, verified: 1, first_event: 8 });
  });

  it('that was never begun is not called valid', async () => {
    expect(await api.verify({}, inTenant('nobody'))).toEqual({
      ...{ valid: false, verified: 0, gaps: [], tampered: [], first_event: 0, last_event: 0, stream_id: null },
      ...{ purged: 0, erased: 0, gap_count: 0, tampered_count: 0, head_hash: '0'.repeat(64) },
      remarks: ['nothing was ever recorded for this tenant and app'],
    });
  });

  it('lacks what is asked for beyond its end', async () => {
    const { verify } = await chain();
    expect(await verify({ to_seq: 10 })).toMatchObject({ valid: false, gaps: [9, 10], verified: 8 });
    const most = Number.MAX_SAFE_INTEGER;
    const far = await verify({ from_seq: 7, to_seq: most });
    expect(far).toMatchObject({ valid: false, gap_count: most - 8 });
    expect(far.gaps).toHaveLength(1_000);
    expect(await verify({ from_seq: 20 })).toMatchObject({ verified: 0, gaps: [20] });
  });

  it('is not verified backwards', async () => {
    const body = { from_seq: 5, to_seq: 4 };
    expect(await api.refusal('POST', '/verify', { ...inTenant('rows-1'), body })).toEqual([
      400,
      'audit: from_seq is after to_seq',
    ]);
  });
});

describe('rows that were changed as a whole', () => {
  it.each([
    ['first', [1]],
    ['middle', [4, 5]],
  ])('deleted in the %s', async (_, sequences) => {
    const { verify } = await chain(remove(...sequences));
    expect(await verify()).toMatchObject({ valid: false, gaps: sequences, tampered: [] });
  });

  it('deleted at the end, while the head says more', async () => {
    const { verify } = await chain(remove(7, 8));
    expect(await verify()).toMatchObject({ valid: false, gaps: [7, 8], gap_count: 2, tampered: [] });
  });

  it('deleted at the end together with the head: only those who know more can tell', async () => {
    const { verify, tenant } = await chain(async (sql, tenant) => {
      await headTo(6)(sql, tenant);
      await remove(7, 8)(sql, tenant);
    });
    expect(await verify()).toMatchObject({ valid: true, last_event: 6 });
    expect(await verify({ to_seq: 8 })).toMatchObject({ valid: false, gaps: [7, 8] });
    expect((await api.event({}, inTenant(tenant))).sequence).toBe(7);
  });

  it('swapped', async () => {
    const { verify } = await chain(async (sql, tenant) => {
      await move(3, 100)(sql, tenant);
      await move(5, 3)(sql, tenant);
      await move(100, 5)(sql, tenant);
    });
    const { tampered, gaps, valid } = await verify();
    expect([valid, gaps]).toEqual([false, []]);
    expect(tampered).toEqual(expect.arrayContaining([3, 5]));
    expect(tampered.every((sequence) => sequence >= 3 && sequence <= 6)).toBe(true);
  });

  it('duplicated behind the end', async () => {
    const { verify } = await chain(copy(8, 9));
    expect(await verify()).toMatchObject({ valid: false, tampered: [9], gaps: [], last_event: 8 });
  });

  it('put in the place of another', async () => {
    const { verify } = await chain(async (sql, tenant) => {
      await remove(5)(sql, tenant);
      await copy(2, 5)(sql, tenant);
    });
    const { valid, tampered } = await verify();
    expect([valid, tampered[0]]).toEqual([false, 5]);
  });

  it('inserted, with all others moved', async () => {
    const { verify } = await chain(async (sql, tenant) => {
      for (const sequence of [8, 7, 6, 5]) await move(sequence, sequence + 1)(sql, tenant);
      await copy(4, 5)(sql, tenant);
      await headTo(9)(sql, tenant);
    });
    expect(await verify()).toMatchObject({
      valid: false,
      tampered: expect.arrayContaining([5, 6, 9]) as number[],
    });
  });

  it('another hash at the head', async () => {
    const { verify } = await chain(
      (sql, tenant) =>
        sql`update audit.streams set head_hash = ${Buffer.alloc(32, 1)} where tenant_id = ${tenant}`,
    );
    expect(await verify()).toMatchObject({ valid: false, tampered: [8], verified: 8 });
  });

  it('a forged remainder of a purge', async () => {
    const columns =
      'id,app_id,timestamp,recorded_at,recorded_by,source,actor_type,action,resource,category,outcome';
    const others = 'severity,salt,actor,content,actor_key,content_key,actor_ref,subject_ref,resource_ref';
    const nothing = Object.fromEntries(`${columns},${others}`.split(',').map((name) => [name, null]));
    const { verify } = await chain(
      (sql, tenant) => sql`
        update audit.events set ${sql({ ...nothing, run_id: 'retrun_01kjkhze80ff18hh4d04aq0v2w' })}
        where tenant_id = ${tenant} and sequence in (2, 6)`,
    );
    expect(await verify()).toMatchObject({ valid: false, tampered: [2, 6], purged: 2, verified: 6 });
  });
});

it('a chain that is not intact is told to subscribers', async () => {
  const { verify } = await chain(remove(2));
  const { stream_id } = await verify();
  const told = await server.db
    .sql`select data, subject from audit.outbox where type = 'audit.integrity.failed' and subject = ${stream_id}`;
  expect(told).toEqual([{ subject: stream_id, data: { stream_id, gap_count: 1, tampered_count: 0 } }]);
});

it.each([
  ["update audit.events set action = 'other'"],
  ['update audit.events set hash = hash, sequence = sequence + 100'],
  ["update audit.events set run_id = 'x'"],
  ['update audit.events set actor_ref = resource_ref where true'],
  ['delete from audit.events'],
  ['truncate audit.events'],
])('the database itself refuses: %s', async (statement) => {
  const { tenant } = await chain();
  await expect(server.db.transaction((sql) => sql.unsafe(statement))).rejects.toThrow(
    'events of the audit log are not changed or deleted',
  );
  expect(await api.verify({}, inTenant(tenant))).toMatchObject({ valid: true, verified: 8 });
});
