import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { changeLog } from './change-log.ts';
import { openDatabase } from './index.ts';
import { migrate, type Migrations } from './migrate.ts';
import { emit, type Event } from './outbox.ts';

const log = pino({ level: 'silent' });
let db: TestDatabase;
let folder: string;
let service: Migrations;
beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-migrations-'));
  service = { name: 'things', migrations: pathToFileURL(`${folder}/`) };
  await write('0001_things', 'create table things.things (id int); insert into things.things values (1);');
  await write(
    '0002_more',
    'create function things.two() returns int language sql as $$ select 2; $$; insert into things.things values (things.two());',
  );
});
afterEach(async () => {
  await db.sql`drop schema if exists things cascade`;
  await rm(folder, { recursive: true });
});
afterAll(() => db.close());

const write = (id: string, text: string) => writeFile(join(folder, `${id}.sql`), text);
const run = () => migrate(db, [service], log);
const rows = async () =>
  (await db.sql<{ id: number }[]>`select id from things.things order by id`).map(({ id }) => id);

test('each file runs once and in order; a file that is added later runs at the next start', async () => {
  expect(await run()).toBe(2);
  expect(await run()).toBe(0);
  await write('0003_last', 'insert into things.things values (3)');
  expect(await run()).toBe(1);
  expect(await rows()).toEqual([1, 2, 3]);
});

test('a file that fails leaves nothing of itself, and those before it stay', async () => {
  await write('0003_bad', 'insert into things.things values (3); select nothing;');
  await expect(run()).rejects.toMatchObject({ code: '42703' });
  expect(await rows()).toEqual([1, 2]);
  await write('0003_bad', 'insert into things.things values (4)');
  expect(await run()).toBe(1);
  expect(await rows()).toEqual([1, 2, 4]);
});

/** Migrates from twenty processes, or from one where the engine allows only one, and returns how many files ran in total. */
async function twentyAtOnce(): Promise<number> {
  const { url, dataDir } = db.options;
  const others =
    url === undefined
      ? []
      : await Promise.all(Array.from({ length: 19 }, () => openDatabase({ url, dataDir, log })));
  const all = url === undefined ? Array.from({ length: 20 }, () => db) : [db, ...others];
  const counts = await Promise.all(all.map((each) => migrate(each, [service], log)));
  await Promise.all(others.map((each) => each.close()));
  return counts.reduce((sum, count) => sum + count);
}

test('twenty at once run each file once', async () => {
  expect(await twentyAtOnce()).toBe(2);
  expect(await rows()).toEqual([1, 2]);
});

test('a schema that is newer than the code is refused with a sentence, before anything runs', async () => {
  await run();
  await rm(join(folder, '0002_more.sql'));
  await write('0001b_other', 'select nothing');
  await expect(run()).rejects.toThrow(
    'the database has migration things/0002_more, which this version of Plinth does not know: start the version that made it, or a newer one',
  );
});

test('a file that was changed after it had been applied is refused, another line ending is no change', async () => {
  await run();
  await write('0001_things', 'create table things.things (id int); insert into things.things values (9);');
  await expect(run()).rejects.toThrow('migration things/0001_things was changed after it had been applied');
});

test('a file that sorts before an applied one is refused', async () => {
  await run();
  await write('0001b_late', 'select 1');
  await expect(run()).rejects.toThrow(
    'migration things/0001b_late sorts before 0002_more, which was applied already',
  );
});

test('line endings do not count as a change', async () => {
  await write('0003_lines', 'select 1;\nselect 2;\n');
  await run();
  await write('0003_lines', 'select 1;\r\nselect 2;\r\n');
  expect(await run()).toBe(0);
});

describe('standard tables', () => {
  const declare = (...tables: string[]) =>
    writeFile(join(folder, 'standard-tables.json'), JSON.stringify(tables));
  const tables = async () =>
    (
      await db.sql<{ name: string }[]>`
        select tablename as name from pg_tables where schemaname = 'things' order by tablename`
    ).map(({ name }) => name);

  test('are there before the first file of the service', async () => {
    await declare('outbox', 'changes');
    await write('0001_things', 'create table things.things (id int); create index on things.outbox (id);');
    await write('0002_more', "alter table things.changes add check (kind <> '')");
    expect(await run()).toBe(5);
    expect(await run()).toBe(0);
    expect(await tables()).toEqual(['changes', 'migrations', 'outbox', 'things']);
  });

  test('can be added to a service that is in use', async () => {
    await run();
    await declare('detailed_changes');
    expect(await run()).toBe(1);
    expect(await tables()).toEqual(['changes', 'migrations', 'things']);
    expect(await rows()).toEqual([1, 2]);
  });

  test('that a file of the service creates are left to it', async () => {
    await declare('outbox', 'changes');
    await write('0003_outbox', 'create table things.outbox (own int);');
    expect(await run()).toBe(4);
    expect(await db.sql`select own from things.outbox`).toEqual([]);
  });

  test('stay when the file after them fails, and are not made again', async () => {
    await declare('outbox');
    await write('0001_things', 'select nothing');
    await expect(run()).rejects.toMatchObject({ code: '42703' });
    expect(await tables()).toEqual(['migrations', 'outbox']);
    await write('0001_things', 'create table things.things (id int)');
    expect(await run()).toBe(2);
  });

  test('are made once by twenty at once', async () => {
    await declare('outbox', 'changes');
    expect(await twentyAtOnce()).toBe(5);
    expect(await tables()).toEqual(['changes', 'migrations', 'outbox', 'things']);
  });

  test('of an unknown name are refused', async () => {
    await declare('inbox');
    await expect(run()).rejects.toThrow(
      'things/standard-tables.json: must be an array of outbox, changes, detailed_changes',
    );
  });

  test('hold what the outbox and the changes write', async () => {
    await declare('outbox', 'changes');
    await run();
    const event: Event = {
      ...{ source: '/things' as const, type: 'things.thing.made', subject: 'thing_1', data: {} },
      ...{ tenant: 'a', app: 'default', actor: 'root' },
    };
    await emit(db.sql, event);
    await changeLog(db, 'things').append(db.sql, [{ kind: 'thing', id: 'thing_1' }]);
    expect(await db.sql`select subject from things.outbox`).toEqual([{ subject: 'thing_1' }]);
    expect(await db.sql`select id from things.changes`).toEqual([{ id: 'thing_1' }]);
  });

  test.each([
    ['auth', 'outbox', 'outbox'],
    ['auth', 'changes', 'detailed_changes'],
    ['authz', 'outbox', 'outbox'],
    ['keys', 'outbox', 'outbox'],
    ['keys', 'changes', 'changes'],
  ])('have the columns that %s.%s has', async (schema, table, standard) => {
    await migrate(
      db,
      [{ name: schema, migrations: new URL(`../services/${schema}/migrations/`, import.meta.url) }],
      log,
    );
    await declare(standard);
    await run();
    expect(await columnsOf('things', table)).toEqual(await columnsOf(schema, table));
  });

  /** Defaults are left out where every statement gives a value, as in `detailed_changes`. */
  const columnsOf = (schema: string, table: string) => db.sql`
    select column_name, data_type, datetime_precision, is_nullable, is_identity,
      case when column_name not in ('effect', 'before') then column_default end as column_default
    from information_schema.columns
    where table_schema = ${schema} and table_name = ${table}
    order by ordinal_position`;
});
