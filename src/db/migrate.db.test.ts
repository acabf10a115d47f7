import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { openDatabase } from './index.ts';
import { migrate, type Migrations } from './migrate.ts';

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

test('twenty at once run each file once', async () => {
  const { url, dataDir } = db.options;
  const others =
    url === undefined
      ? []
      : await Promise.all(Array.from({ length: 19 }, () => openDatabase({ url, dataDir, log })));
  const all = url === undefined ? Array.from({ length: 20 }, () => db) : [db, ...others];
  const counts = await Promise.all(all.map((each) => migrate(each, [service], log)));
  await Promise.all(others.map((each) => each.close()));
  expect(counts.reduce((sum, count) => sum + count)).toBe(2);
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
