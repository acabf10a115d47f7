/** Tests that a change of any field behind the back of the triggers is found, and named exactly. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Sql } from '../../../db/index.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tamper } from '../testing.store.ts';
import { inTenant, tools } from '../testing.ts';

const tenant = 'fields';
const own = inTenant(tenant);
const changedSequence = 4;

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
  await api.batch(
    Array.from({ length: 7 }, (_, n) => ({
      ...{ user_id: 'usr_1', ip: '203.0.113.7', subject_id: 'usr_2', resource_id: `r${n}` },
      metadata: { n },
    })),
    own,
  );
});
afterAll(() => server.close());

type Change = (sql: Sql) => Promise<unknown>;

/** Changes the event, looks what a verification says, and changes it back. */
async function reportAfter(change: Change) {
  await tamper(server.db, (sql) => sql`create table audit.kept as select * from audit.events`);
  try {
    await tamper(server.db, change);
    return await api.verify({}, own);
  } finally {
    await tamper(server.db, async (sql) => {
      await sql`delete from audit.events`;
      await sql`insert into audit.events select * from audit.kept`;
      await sql`drop table audit.kept`;
    });
  }
}

const columns: readonly (readonly [column: string, value: string | null])[] = [
  ['id', 'audit_01kfd8cst0f4ebfc0tywvtbr3d'],
  ['app_id', 'other'],
  ['timestamp', '2026-01-01T00:00:00.001Z'],
  ['recorded_at', '2026-01-01T00:00:00.001Z'],
  ['recorded_by', 'root:other'],
  ['source', 'auth'],
  ['actor_type', 'robot'],
  ['action', 'user.created'],
  ['resource', 'account'],
  ['category', 'auth'],
  ['outcome', 'failure'],
  ['severity', 'warning'],
  ['action', null],
  ['timestamp', null],
];

it.each(columns)('a changed %s (%s) is found', async (column, value) => {
  const report = await reportAfter(
    (sql) =>
      sql`update audit.events set ${sql({ [column]: value })} where tenant_id = ${tenant} and sequence = ${changedSequence}`,
  );
  expect(report).toMatchObject({ valid: false, tampered: [changedSequence], tampered_count: 1, gaps: [] });
  expect(report.verified).toBe(6);
});

it.each(['salt', 'actor', 'content', 'actor_key', 'content_key', 'hash'])(
  'a changed byte of %s is found, and the event can still be read',
  async (column) => {
    const flip: Change = (sql) => sql`
      update audit.events set ${sql(column)} = set_byte(${sql(column)}, 12, get_byte(${sql(column)}, 12) # 1)
      where tenant_id = ${tenant} and sequence = ${changedSequence}`;
    const { events } = await api.list(`?limit=7`, own);
    const report = await reportAfter(async (sql) => {
      await flip(sql);
    });
    expect(report).toMatchObject({ valid: false, tampered: [changedSequence], gaps: [] });
    expect((await api.list(`?limit=7`, own)).events).toEqual(events);
  },
);

it.each(['actor', 'content', 'salt', 'actor_key', 'content_key'])('a removed %s is found', async (column) => {
  const report = await reportAfter(
    (sql) =>
      sql`update audit.events set ${sql({ [column]: null })} where tenant_id = ${tenant} and sequence = ${changedSequence}`,
  );
  expect(report).toMatchObject({ valid: false, tampered: [changedSequence] });
});

it('an event whose bytes were changed is shown without them, and so is its list', async () => {
  const [event] = (await api.list('?limit=1&order=asc&offset=3', own)).events;
  await tamper(server.db, (sql) => sql`create table audit.kept as select * from audit.events`);
  await tamper(
    server.db,
    (sql) =>
      sql`update audit.events set content = '\\x017f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f' where id = ${event!.id}`,
  );
  expect(await api.get(event!.id, own)).toEqual({
    ...event,
    ...{ metadata: null, resource_id: null, subject_id: null, unreadable: true },
  });
  expect((await api.list('?limit=7', own)).events).toHaveLength(7);
  await tamper(server.db, async (sql) => {
    await sql`delete from audit.events`;
    await sql`insert into audit.events select * from audit.kept`;
    await sql`drop table audit.kept`;
  });
  expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 7 });
});
