/** Tests that a verification calls nothing valid that it cannot know, and that one finding is told once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { keepEvents, tamper } from '../testing.store.ts';
import { inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  api = tools(server);
  await keepEvents(server.db);
});
afterAll(() => server.close());

async function chain(tenant: string, count: number) {
  const own = inTenant(tenant);
  await api.batch(
    Array.from({ length: count }, (_, n) => ({ user_id: 'anna', metadata: { n } })),
    own,
  );
  const { stream_id } = (await api.list('?limit=1', own)).events[0]!;
  return { own, stream_id };
}

const remove = (tenant: string, ...sequences: number[]) =>
  tamper(
    server.db,
    (sql) =>
      sql`delete from audit.events where tenant_id = ${tenant} and sequence = any(${sequences}::bigint[])`,
  );

describe('a range', () => {
  it('that begins beyond the head begins with a gap, also when somebody moved the head back', async () => {
    const { own } = await chain('cut', 8);
    await remove('cut', 6, 7, 8);
    await tamper(
      server.db,
      (sql) => sql`
        update audit.streams set head_seq = 5, head_hash = (
          select hash from audit.events where tenant_id = 'cut' and sequence = 5
        ) where tenant_id = 'cut'`,
    );
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 5 });
    expect(await api.verify({ from_seq: 8 }, own)).toMatchObject({
      ...{ valid: false, verified: 0, gaps: [8], gap_count: 1, first_event: 8, last_event: 8 },
    });
    expect(await api.verify({ from_seq: 6, to_seq: 8 }, own)).toMatchObject({
      valid: false,
      gaps: [6, 7, 8],
    });
    expect(await api.verify({ from_seq: 5 }, own)).toMatchObject({ valid: true, verified: 1 });
    const far = Number.MAX_SAFE_INTEGER;
    expect(await api.verify({ from_seq: far }, own)).toMatchObject({ valid: false, gaps: [far] });
  });

  it('that begins after a missing event hangs on it', async () => {
    const { own } = await chain('hanging', 5);
    await remove('hanging', 3);
    expect(await api.verify({ from_seq: 4 }, own)).toMatchObject({ valid: false, verified: 1, gaps: [3] });
    expect(await api.verify({ from_seq: 5 }, own)).toMatchObject({ valid: true, verified: 1, gaps: [] });
  });
});

describe('a stream whose row was removed', () => {
  it('is told of, by whatever name it is asked for, and so it stays when another one has begun', async () => {
    const { own, stream_id } = await chain('headless', 3);
    await tamper(server.db, (sql) => sql`delete from audit.streams where tenant_id = 'headless'`);
    const remark = `the row of ${stream_id} is missing: its events are stored, but where they ended is not known`;
    const report = { valid: false, verified: 0, stream_id, remarks: [remark] };
    expect(await api.verify({}, own)).toMatchObject(report);
    expect(await api.verify({ stream_id }, own)).toMatchObject(report);
    await server.restart();
    await api.event({}, own);
    expect(await api.verify({}, own)).toMatchObject({ valid: false, verified: 1, remarks: [remark] });
  });

  it('of a tenant without anything else is not taken for a tenant that never was', async () => {
    expect(await api.verify({}, inTenant('nobody-knows'))).toMatchObject({
      ...{ valid: false, stream_id: null, remarks: ['nothing was ever recorded for this tenant and app'] },
    });
    const streams = await server.db.sql`select from audit.streams where tenant_id = 'nobody-knows'`;
    expect(streams).toHaveLength(0);
  });
});

it('what is missing only because a request names it is answered, but it alarms nobody', async () => {
  const { own, stream_id } = await chain('claimed', 3);
  for (const to_seq of [4, 8, Number.MAX_SAFE_INTEGER])
    expect(await api.verify({ to_seq }, own)).toMatchObject({ valid: false, gap_count: to_seq - 3 });
  await api.verify({ from_seq: 90 }, own);
  const told = async () =>
    (
      await server.db.sql<{ data: object }[]>`
    select data from audit.outbox where type = 'audit.integrity.failed' and subject = ${stream_id}`
    ).map(({ data }) => data);
  expect(await told()).toEqual([]);
  await remove('claimed', 2);
  await api.verify({ to_seq: 1_000 }, own);
  expect(await told()).toEqual([{ stream_id, gap_count: 1, tampered_count: 0, unreadable: 0 }]);
});

it('events that somebody invented before the first one are told of', async () => {
  const { own } = await chain('before', 2);
  await tamper(
    server.db,
    (sql) => sql`
      insert into audit.events select (jsonb_populate_record(event, '{"sequence":-4,"id":"audit_01m7w4n5e0f7drekxj50y51wjg"}')).*
      from audit.events as event where tenant_id = 'before' and sequence = 1`,
  );
  const remarks = ['rows are numbered from -4, before the first event: somebody added them'];
  expect(await api.verify({}, own)).toMatchObject({ valid: false, verified: 2, remarks });
});

it('a stream that was given to another app is not that app’s', async () => {
  const own = inTenant('given');
  await api.batch([{}, {}], own);
  await tamper(server.db, (sql) => sql`update audit.streams set app_id = 'shop' where tenant_id = 'given'`);
  const shop = { headers: { 'X-Tenant-ID': 'given', 'X-App-ID': 'shop' } };
  expect(await api.verify({}, shop)).toMatchObject({ valid: false, verified: 0, tampered: [1, 2] });
});

it('a stream whose index key cannot be opened is verified all the same, with a remark', async () => {
  const { own, stream_id } = await chain('sealed', 2);
  await tamper(
    server.db,
    (sql) =>
      sql`update audit.streams set index_key = set_byte(index_key, 20, 255 - get_byte(index_key, 20)) where id = ${stream_id}`,
  );
  await server.restart();
  const report = {
    ...{ valid: false, verified: 2, tampered: [], unreadable: 0 },
    remarks: [`the index key of ${stream_id} cannot be opened: what tells of purged events is not found`],
  };
  expect(await api.verify({}, own)).toMatchObject(report);
  expect(await api.verify({ stream_id }, own)).toMatchObject(report);
});

it('a finding is told once an hour, and at once when it has grown', async () => {
  const { own, stream_id } = await chain('alarm', 9);
  const told = async () =>
    (
      await server.db.sql<{ data: { gap_count: number } }[]>`
        select data from audit.outbox where type = 'audit.integrity.failed' and subject = ${stream_id} order by id`
    ).map(({ data }) => data.gap_count);
  await remove('alarm', 2);
  for (const from_seq of [1, 2, 1]) await api.verify({ from_seq }, own);
  await Promise.all([1, 1, 1].map(async () => server.request('POST', '/audit/v1/verify', own)));
  expect(await told()).toEqual([1]);
  await remove('alarm', 4);
  await api.verify({}, own);
  await api.verify({}, own);
  expect(await told()).toEqual([1, 2]);
  await server.db
    .sql`update audit.alarms set told_at = now() - interval '61 minutes' where stream_id = ${stream_id}`;
  await api.verify({}, own);
  expect(await told()).toEqual([1, 2, 2]);
});
