/** How long the deliveries of a killed process wait. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/db/index.ts';
import { startProcess } from '../../src/testing/worker-processes.ts';
import { onServer } from '../jobs/place.ts';
import { atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { withReceiver } from './receiver.ts';
import { createEndpoints, feed, masterKey, registerType, startService } from './service.ts';

const path = 'takeover after `kill -9`, until every delivery is attempted again';
const program = new URL('../../src/services/webhooks/dispatch/testing/dispatch-process.ts', import.meta.url);
const leaseMs = 5_000;

/** No receiver answers the first attempts, so the killed process still holds its deliveries. */
export function takeover(): AsyncIterable<Row> {
  return onServer(path, '≤ 7,000 ms', ({ db, url }) =>
    withReceiver(async function* (receiver) {
      const tenants = Array.from({ length: sized(64, 16) }, (_, at) => `tenant-${at}`);
      const events = tenants.length;
      await registerType(db);
      await createEndpoints(
        db,
        tenants.map((tenant) => ({ tenant, url: `${receiver.url}/once/${tenant}` })),
      );
      const service = await startService(db, { dispatch: false });
      const start = { url, dataDir: '', masterKey: masterKey.toString('base64'), leaseMs, env: {} };
      const processes = await Promise.all([startProcess(program, start), startProcess(program, start)]);
      try {
        for (const one of processes) await one.call('work');
        // A process that has just started lets others renew their leases before it ends any lease.
        await delay(leaseMs + 1_500);
        await receiver.during(events, () => feed(service.send, tenants, { events }));
        const held = await Promise.all(processes.map(({ pid }) => heldBy(db, pid)));
        const most = Math.max(...held);
        const killedAt = performance.now();
        await processes[held.indexOf(most)]!.kill();
        await receiver.received(events + most);
        yield atMost(performance.now() - killedAt, 7_000, {
          path,
          unit: 'ms',
          measured: `${round(most)} deliveries`,
        });
      } finally {
        await Promise.all([...processes.map((one) => one.kill()), service.stop()]);
      }
    }),
  );
}

/** Returns how many deliveries a process is attempting. */
async function heldBy({ sql }: Database, pid: number): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*)::integer as count from webhooks.delivery join jobs.lease on lease.id = delivery.lease_id
    where delivery.state = 'delivering' and lease.worker like ${`%:${pid}`}`;
  return count;
}
