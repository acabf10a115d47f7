import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createSealer } from '../lib/seal.ts';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { checkMasterKey, MasterKeyError } from './master-key.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: [] });
});
afterAll(() => db.close());
beforeEach(() => db.sql`delete from plinth.master_key`);

const [key, next, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const check = (...keys: [master: Buffer, previous?: Buffer]) => checkMasterKey(db.sql, createSealer(...keys));

it('the first key is noted, and another one refused, with a sentence', async () => {
  await check(key);
  await check(key);
  await expect(check(other)).rejects.toThrow(MasterKeyError);
  await expect(check(other, next)).rejects.toThrow('PLINTH_MASTER_KEY_PREVIOUS');
  await check(key, other);
});

it('a key that replaces it is noted, and the one before refused from then on', async () => {
  await check(key);
  await check(next, key);
  await check(next);
  await expect(check(key)).rejects.toThrow(MasterKeyError);
  // Returns to the first key, as when a rollout is reverted.
  await check(key, next);
  await check(key);
});

it('of many servers that start at once with two keys those with one go on', async () => {
  const started = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => check(n % 2 === 0 ? key : other)),
  );
  const ended = started.map(({ status }) => status);
  expect(ended.filter((status) => status === 'fulfilled')).toHaveLength(5);
  expect(new Set(ended.filter((_, n) => n % 2 === 0)).size).toBe(1);
});

it('what is noted is not the key', async () => {
  await check(key);
  const [row] = await db.sql<[{ fingerprint: Buffer }]>`select fingerprint from plinth.master_key`;
  expect([row.fingerprint.length, row.fingerprint.includes(key.subarray(0, 8))]).toEqual([32, false]);
  expect(row.fingerprint).toEqual(createSealer(key).fingerprint);
});
