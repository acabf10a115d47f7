import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test('the database says that it is there while all other connections have long queues', async () => {
  let left = 1_500;
  const work = Array.from({ length: left }, () =>
    db.sql`select count(*) from generate_series(1, 2000)`.then(() => (left -= 1)),
  );
  await db.probe();
  expect(left).toBeGreaterThan(500);
  await Promise.all(work);
});

test('questions at the same time share one answer', async () => {
  const first = db.probe();
  expect(db.probe()).toBe(first);
  await first;
  await db.probe();
});
