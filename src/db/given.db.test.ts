import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { given, givenTexts } from './given.ts';
import type { Sql } from './sql.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.sql`create table kept (id text collate "C" primary key, size bigint not null)`;
  await db.sql`insert into kept select 'id-' || n, n from generate_series(1, 1000) as n`;
});
afterAll(() => db.close());

test('has a row for each element', async () => {
  const rows = await db.sql`
    select * from ${given(db.sql, db.sql`${['a', 'b']}::text[]`, db.sql`${[1, 2]}::bigint[]`)} with ordinality as one(id, size, place)`;
  expect(rows).toEqual([
    { id: 'a', size: 1, place: 1 },
    { id: 'b', size: 2, place: 2 },
  ]);
  expect(await db.sql`select * from ${givenTexts(db.sql, [])} as one(id)`).toEqual([]);
});

/** How often a statement that ran ten times on one connection was planned for its parameters, and how often its plan was kept. */
const plansOf = (rows: (sql: Sql) => ReturnType<typeof givenTexts>) =>
  db.transaction(async (sql) => {
    for (let run = 0; run < 10; run++)
      await sql`select 'probe', kept.size from ${rows(sql)} as one(id) join kept on kept.id = one.id collate "C"`;
    const [plans] = await sql<[{ custom: number; generic: number }]>`
      select sum(custom_plans)::int as custom, sum(generic_plans)::int as generic from pg_prepared_statements
      where statement like '%probe%kept%' and statement not like '%pg_prepared%'`;
    return plans;
  });

test('keeps the plan of its statement, which `unnest` of a parameter does not', async () => {
  const ids = ['id-1', 'id-2'];
  expect(await plansOf((sql) => sql`unnest(${ids}::text[])`)).toMatchObject({ generic: 0 });
  const { generic } = await plansOf((sql) => givenTexts(sql, ids));
  expect(generic).toBeGreaterThan(0);
});
