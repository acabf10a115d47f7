import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

/** Listens, and resolves once listening has begun. */
async function listening(channel: string): Promise<{ heard: string[]; stop: () => void }> {
  const heard: string[] = [];
  let stop = () => {};
  await new Promise<void>((begun) => {
    stop = db.notices.listen(channel, (payload) => heard.push(payload), begun);
  });
  return { heard, stop };
}

test('a notice arrives when its transaction has committed, and not when it was rolled back', async () => {
  const { heard, stop } = await listening('plinth_a');
  await expect(
    db.transaction(async (sql) => {
      await db.notices.send(sql, 'plinth_a', 'never');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await db.transaction(async (sql) => {
    await db.notices.send(sql, 'plinth_a', 'committed');
    await sql`select pg_sleep(0.05)`;
    expect(heard).toEqual([]);
  });
  await expect.poll(() => heard).toEqual(['committed']);
  stop();
});

test('a notice outside of a transaction arrives at once', async () => {
  const { heard, stop } = await listening('plinth_b');
  await db.notices.send(db.sql, 'plinth_b', 'now');
  await expect.poll(() => heard).toEqual(['now']);
  stop();
});

test('every listener of a channel hears, and none of another channel', async () => {
  const one = await listening('plinth_c');
  const two = await listening('plinth_c');
  const other = await listening('plinth_d');
  await db.notices.send(db.sql, 'plinth_c', 'x');
  await db.notices.send(db.sql, 'plinth_d', 'y');
  await expect.poll(() => [one.heard, two.heard, other.heard]).toEqual([['x'], ['x'], ['y']]);
  one.stop();
  await db.notices.send(db.sql, 'plinth_c', 'z');
  await expect.poll(() => two.heard).toEqual(['x', 'z']);
  expect(one.heard).toEqual(['x']);
  two.stop();
  other.stop();
});

test('a listener that throws keeps nobody else from hearing', async () => {
  const stopBad = db.notices.listen('plinth_e', () => {
    throw new Error('bad listener');
  });
  const { heard, stop } = await listening('plinth_e');
  await db.notices.send(db.sql, 'plinth_e', 'x');
  await expect.poll(() => heard).toEqual(['x']);
  stopBad();
  stop();
});
