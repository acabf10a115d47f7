/** Tests that many writers, in several processes, count each event once, and that no process answers with an old count. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { tools } from '../testing.ts';
import { subscribed, sumsOf, within } from './testing.ts';

const services = ['keys', 'billing'];
const day = 86_400_000;
const tenants = ['one', 'two', 'three'];

let db: ChildDatabase;
let servers: ChildServer[] = [];
beforeAll(async () => {
  db = await childDatabase(services);
  await within(db, async (sql) => {
    for (const tenant of [...tenants, 'fresh']) await subscribed(sql, { tenant, at: Date.now() - 40 * day });
  });
  // The embedded database belongs to one process.
  const count = inject('engine') === 'postgres' ? 2 : 1;
  const env = {
    PLINTH_CONTRACT: 'fast',
    PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...db.env,
  };
  servers = await Promise.all(Array.from({ length: count }, () => childServer({ services, env })));
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await db.remove();
});

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const serverOf = (writer: number) => servers[writer % servers.length]!;

/** An event of a writer, of which a fifth have the key of another writer's. They lie on several days and in two periods. */
const eventOf = (writer: number, at: number) => ({
  feature_key: ['calls', 'seats', 'storage'][at % 3]!,
  quantity: (at % 7) + 0.25,
  idempotency_key: at % 5 === 4 ? `shared-${at}` : `${writer}-${at}`,
  timestamp: new Date(Date.now() - (at % 20) * day).toISOString(),
});

describe('at once', { timeout: 180_000 }, () => {
  it('32 writers with a fifth of duplicates: what is counted is what is stored', async () => {
    const accepted = new Map<string, number>(tenants.map((tenant) => [tenant, 0]));
    const write = async (writer: number, tenant: string) => {
      for (let at = 0; at < 30; at += 3) {
        const path = '/billing/billing/meter/events';
        const single = await serverOf(writer).request('POST', path, { tenant, body: eventOf(writer, at) });
        expect([202, 409]).toContain(single.status);
        const batch = { events: [eventOf(writer, at + 1), eventOf(writer, at + 2)] };
        const { status, body } = await serverOf(writer).request('POST', `${path}/batch`, {
          tenant,
          body: batch,
        });
        expect(status).toBe(202);
        const stored = (single.status === 202 ? 1 : 0) + (body.accepted as number);
        accepted.set(tenant, accepted.get(tenant)! + stored);
      }
    };
    await Promise.all(numbers(32).flatMap((writer) => tenants.map((tenant) => write(writer, tenant))));
    const counts = [...accepted.values()];
    // Of each writer's 30 events, 6 are shared by all.
    expect(counts).toEqual(tenants.map(() => 32 * 24 + 6));
    for (const tenant of tenants) {
      const { pagination } = await tools(serverOf(0)).send('GET', '/billing/meter/events?status=counted', {
        tenant,
      });
      expect(pagination.total).toBe(32 * 24 + 6);
    }
  });

  it('a check right after the answer knows the event, in every process', async () => {
    const own = { tenant: 'fresh' };
    for (const at of numbers(40)) {
      await tools(serverOf(at)).send('POST', '/billing/meter/events', {
        ...own,
        body: { feature_key: 'calls' },
      });
      const check = { ...own, body: { feature_key: 'calls' } };
      const results = await Promise.all(
        servers.map((server) => tools(server).send('POST', '/billing/entitlements/check', check)),
      );
      for (const { used } of results) expect(used).toBe(at + 1);
    }
  });

  it('the sums of events, totals and days are equal', async () => {
    await Promise.all(servers.splice(0).map((server) => server.kill()));
    await within(db, async (sql) => {
      for (const tenant of [...tenants, 'fresh']) {
        const { events, totals, days } = await sumsOf(sql, tenant);
        expect(events.count).toBeGreaterThan(0);
        expect([totals, days]).toEqual([events, events]);
      }
    });
  });
});
