/** Tests that a long stream is verified in memory that does not grow with it. `npm run bench -- audit/memory` does so with a million events. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { heapDuring } from '../../../testing/heap.ts';
import { testSealer, testServer, type TestServer } from '../../../testing/server.ts';
import { createKnownStreams } from '../streams/known-streams.ts';
import { fillStream } from '../testing.store.ts';
import { inTenant, tools } from '../testing.ts';

const mebibyte = 1_024 * 1_024;
/** As many as are written and verified in a few seconds. As objects they take several times as much as may be in use. */
const many = 20_000;

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
  const known = createKnownStreams({ db: server.db, sealer: testSealer });
  await fillStream(server.db, await known.of('long', 'default'), { count: many, bytes: 100 });
});
afterAll(() => server.close());

it(
  'a long stream is verified in little memory, and others are answered meanwhile',
  { timeout: 300_000 },
  async () => {
    const own = inTenant('long');
    const order: string[] = [];
    const verified = async () => {
      expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: many, last_event: many });
      order.push('verified');
    };
    await api.verify({ to_seq: 2_000 }, own);
    const used = heapDuring(() =>
      Promise.all([verified(), api.list('', inTenant('other')).then(() => order.push('listed'))]),
    );
    expect(await used).toBeLessThan(24 * mebibyte);
    expect(order).toEqual(['listed', 'verified']);
  },
);

it('a change in the midst of it is found', { timeout: 300_000 }, async () => {
  const own = inTenant('long');
  await server.db.transaction(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`update audit.events set action = 'b' where tenant_id = 'long' and sequence = ${many / 2}`;
  });
  expect(await api.verify({}, own)).toMatchObject({ valid: false, tampered: [many / 2], verified: many - 1 });
});
