import { createPostgresBackend, Queue, Worker } from 'bullmq';
import { randomUUID } from 'node:crypto';
import { redisUrl } from './redis.ts';
import { type Payload, type Peer, slots } from './peer.ts';

const name = 'nothing';

interface Parts {
  readonly queue: Queue<Payload>;
  readonly worker: (handler: (job: { data: Payload }) => Promise<void>) => Worker<Payload>;
}

/** BullMQ in the PostgreSQL database that the others use. */
export async function bullmq(url: string, concurrency = slots): Promise<Peer> {
  const connection = { connectionString: url, max: 10, schema: 'bullmq', migrate: true };
  return peerOf('BullMQ 6 on PostgreSQL', {
    queue: new Queue(name, { connection }, createPostgresBackend as never),
    worker: (handler) =>
      new Worker(name, handler, { connection, concurrency }, createPostgresBackend as never),
  });
}

/** BullMQ in Redis, which answers before anything is on disk; undefined without a Redis server. */
export async function bullmqOnRedis(): Promise<Peer | undefined> {
  const url = await redisUrl();
  if (url === undefined) return undefined;
  const options = { connection: { url }, prefix: `plinth-bench-${randomUUID()}` };
  return peerOf('BullMQ 6 on Redis', {
    queue: new Queue(name, options),
    worker: (handler) => new Worker(name, handler, { ...options, concurrency: slots }),
  });
}

async function peerOf(peer: string, { queue, worker }: Parts): Promise<Peer> {
  // A connection that breaks at the end is not an error of the measurement.
  queue.on('error', () => {});
  await queue.waitUntilReady();
  const opts = { removeOnComplete: true, removeOnFail: true };
  return {
    name: peer,
    add: (payload) => queue.add(name, payload, opts),
    addAll: (payloads) => queue.addBulk(payloads.map((data) => ({ name, data, opts }))),
    async start(handler) {
      const running = worker(async ({ data }) => {
        await handler(data);
      });
      running.on('error', () => {});
      await running.waitUntilReady();
      return () => running.close();
    },
    async close() {
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}
