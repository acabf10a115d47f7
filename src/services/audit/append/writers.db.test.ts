/** Tests that many writers, in several processes, make one chain without gaps and forks. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { inTenant, tools } from '../testing.ts';

const services = ['keys', 'audit'];

let db: ChildDatabase;
let servers: ChildServer[] = [];
beforeAll(async () => {
  db = await childDatabase(services);
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
const apiOf = (writer: number) => tools(servers[writer % servers.length]!);

describe('at once', { timeout: 120_000 }, () => {
  it('64 writers number one stream from 1 to n', async () => {
    const own = inTenant('one');
    const sequences = await Promise.all(
      numbers(64).map(async (writer) => {
        const found: number[] = [];
        for (let at = 0; at < 6; at++) {
          const event = await apiOf(writer).event(
            { user_id: `usr_${writer % 7}`, subject_id: `usr_${at}` },
            own,
          );
          found.push(event.sequence);
        }
        return found;
      }),
    );
    for (const found of sequences) expect(found).toEqual([...found].sort((a, b) => a - b));
    expect(sequences.flat().sort((a, b) => a - b)).toEqual(numbers(384).map((at) => at + 1));
    for (const writer of servers.keys())
      expect(await apiOf(writer).verify({}, own)).toMatchObject({
        valid: true,
        verified: 384,
        last_event: 384,
      });
  });

  it('50 streams are written side by side, by batches and single events', async () => {
    const tenants = numbers(50).map((at) => inTenant(`side-${at}`));
    await Promise.all(
      tenants.flatMap((own, at) => [
        apiOf(at).batch(
          numbers(10).map((n) => ({ user_id: `usr_${n}` })),
          own,
        ),
        apiOf(at + 1).batch(
          numbers(10).map((n) => ({ subject_id: `usr_${9 - n}` })),
          own,
        ),
        apiOf(at + 1).event({}, own),
      ]),
    );
    const reports = await Promise.all(tenants.slice(0, 2).map((own) => apiOf(0).verify({}, own)));
    for (const report of reports) expect(report).toMatchObject({ valid: true, verified: 21, last_event: 21 });
    const { total } = await apiOf(0).list('?limit=1');
    expect(total).toBe(384 + 50 * 21);
  });

  it('one key, sent to all processes, is one event', async () => {
    const own = inTenant('keyed');
    const events = await Promise.all(
      numbers(20).map((at) => apiOf(at).event({ idempotency_key: `k${at % 2}`, reason: `r${at % 2}` }, own)),
    );
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
    expect(await apiOf(0).verify({}, own)).toMatchObject({ valid: true, last_event: 2 });
  });
});
