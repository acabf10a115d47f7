import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { outboxSweep, pruneOnce } from './outbox-pruning.ts';
import { startSweeps } from './engine/testing/sweeping.ts';
import type { Sql } from './sql.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create schema things`;
  await db.sql`
    create table things.outbox (
      tenant_id text not null, seq bigint generated always as identity, id text not null, type text not null,
      subject text not null, app_id text not null, actor text not null, data jsonb not null,
      time timestamptz(3) not null default now(), relay_number bigint, request_id text, constraint outbox_pkey primary key (tenant_id, seq)
    )
  `;
});
beforeEach(() => db.sql`truncate things.outbox`);
afterAll(() => db.close());

const write = (tenant: string, days: number, count: number) => db.sql`
  insert into things.outbox (tenant_id, id, type, subject, app_id, actor, data, time)
  select ${tenant}, ${`${days} days`} || number, 'things.thing.made', 'x', 'default', 'root', '{}', now() - ${days} * interval '1 day'
  from generate_series(1, ${count}) as number`;

const left = async () =>
  Object.fromEntries(
    (
      await db.sql<{ name: string; count: number }[]>`
        select tenant_id || ' ' || split_part(id, ' ', 1) as name, count(*)::int as count
        from things.outbox group by 1 order by 1`
    ).map(({ name, count }) => [name, count]),
  );

test('events of more than a week ago are deleted, of every tenant, and the others stay', async () => {
  for (let tenant = 0; tenant < 7; tenant++) {
    await write(`t${tenant}`, 8, tenant * 3);
    await write(`t${tenant}`, 6, 2);
  }
  await pruneOnce({ db, service: 'things' }, { tenants: 2, rows: 4 });
  expect(await left()).toEqual(Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`t${at} 6`, 2])));
});

test('what somebody still needs stays, and does not keep what comes after it', async () => {
  await write('acme', 20, 9);
  await write('acme', 8, 9);
  const needed = (sql: Sql) => sql`outbox.id like '20 %'`;
  await pruneOnce({ db, service: 'things', needed }, { rows: 4 });
  expect(await left()).toEqual({ 'acme 20': 9 });
});

test('it runs by itself, and says so', async () => {
  await write('acme', 8, 3);
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const pruning = startSweeps(db, [outboxSweep({ db, service: 'things' })], log);
  await expect.poll(left).toEqual({});
  await pruning.stop();
  expect(JSON.parse(lines[0]!)).toMatchObject({
    msg: expect.stringContaining('stay in the outbox for 7 days and are then deleted'),
  });
});
