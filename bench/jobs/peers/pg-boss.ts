import { PgBoss } from 'pg-boss';
import { log } from '../../place.ts';
import { batch, type Payload, type Peer } from './peer.ts';

const queue = 'nothing';

/**
 * Pg-boss, which is notified of new jobs. It fetches and completes them in batches of a thousand, one batch after the other for
 * as long as they are full.
 */
export async function pgBoss(url: string): Promise<Peer> {
  const boss = new PgBoss({
    connectionString: url,
    max: 10,
    useListenNotify: true,
    supervise: false,
    schedule: false,
  });
  boss.on('error', (error) => log.error({ err: error }, 'pg-boss'));
  await boss.start();
  await boss.createQueue(queue, { notify: true });
  return {
    name: 'pg-boss 12, batches of 1,000',
    add: (payload) => boss.send(queue, payload),
    addAll: (payloads) =>
      boss.insert(
        queue,
        payloads.map((data) => ({ data })),
      ),
    async start(handler) {
      const options = {
        batchSize: batch,
        pollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
        localConcurrency: 2,
      };
      await boss.work<Payload>(queue, options, async (jobs) => {
        await Promise.all(jobs.map(({ data }) => handler(data)));
      });
      return () => boss.offWork(queue, { wait: true });
    },
    close: () => boss.stop({ graceful: false }),
  };
}
