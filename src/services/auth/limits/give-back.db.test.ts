/** Attempts on the same counters that succeed at once: each is judged, and none waits for another in a circle. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attempts } from '../../../db/attempts.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
});
afterAll(() => server.close());

it('a thousand that succeed at once on the same three counters are all judged and leave nothing', async () => {
  const { sql } = server.db;
  const waits = { free: 1_000_000, seconds: [1] };
  const keys = Array.from({ length: 3 }, () => randomBytes(16));
  const counters = keys.map((key) => ({ key, waits }));
  const attempt = { tenant: 'default', account: keys[0]!, counters };
  const one = () =>
    attempts('auth').attempt(sql, attempt, { forgets: keys, run: () => Promise.resolve('right') });
  const judged = await Promise.all(Array.from({ length: 1_000 }, one));
  expect(judged).toEqual(Array(1_000).fill({ result: 'right' }));
  expect(await sql`select from auth.throttles where hash = any(${sql.array(keys)}::bytea[])`).toHaveLength(0);
});
