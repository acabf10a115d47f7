import { afterAll, beforeAll, expect, it } from 'vitest';
import { runSweep } from '../../../db/sweeps.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { inTenant, tools } from '../testing.ts';
import { keySweep } from './sweeps.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

it('a key whose time is over is forgotten, and another one is not', async () => {
  const own = inTenant('sweeps');
  const [old, fresh] = [
    await api.event({ idempotency_key: 'old' }, own),
    await api.event({ idempotency_key: 'fresh' }, own),
  ];
  await server.db.sql`update audit.event_keys set expires_at = now() where event_id = ${old.id}`;
  await runSweep(keySweep(server));
  expect(await api.event({ idempotency_key: 'fresh' }, own)).toEqual(fresh);
  expect(await api.event({ idempotency_key: 'old' }, own)).toMatchObject({ sequence: 3 });
});
