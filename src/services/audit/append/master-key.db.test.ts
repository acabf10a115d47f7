/** Tests that a server with another master key does not start, and that nothing is lost by the attempt. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { inTenant, tools } from '../testing.ts';

const services = ['keys', 'audit'];
const own = inTenant('restarted');

let db: ChildDatabase;
let server: ChildServer | undefined;
beforeAll(async () => {
  db = await childDatabase(services);
});
afterAll(async () => {
  await server?.kill();
  await db.remove();
});

const start = (byte: number) =>
  childServer({
    services,
    env: { ...db.env, PLINTH_MASTER_KEY: Buffer.alloc(32, byte).toString('base64') },
  });

test('a server with another master key says so and does not start; with the right one every event is there', async () => {
  server = await start(1);
  const api = tools(server);
  const events: AuditEvent[] = [];
  for (let at = 0; at < 20; at++)
    events.push(await api.event({ user_id: `usr_${at % 5}`, idempotency_key: `k${at}` }, own));
  await server.kill('SIGKILL');
  await expect(start(2)).rejects.toThrow('the database was sealed with another master key');
  server = await start(1);
  const again = tools(server);
  for (const event of events) expect(await again.get(event.id, own)).toEqual(event);
  // A repeated request finds its event.
  expect(await again.event({ user_id: 'usr_0', idempotency_key: 'k0' }, own)).toMatchObject({
    id: events[0]!.id,
  });
  expect(await again.verify({}, own)).toMatchObject({ valid: true, verified: 20 });
});
