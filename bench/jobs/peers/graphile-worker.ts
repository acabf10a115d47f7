import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { type Payload, type Peer, slots } from './peer.ts';

const logger = new Logger(() => () => {});
const name = 'nothing';

/** Jobs are fetched in hundreds and completed together. */
const batched = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

/** Graphile-worker, silent and with as many connections as the engine; with its batching, or each job completed by itself. */
export async function graphileWorker(
  url: string,
  { isBatched = true, concurrency = slots } = {},
): Promise<Peer> {
  const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: 10 });
  await utils.migrate();
  return {
    name: isBatched ? 'graphile-worker 0.18, batched' : 'graphile-worker 0.18, per job',
    add: (payload) => utils.addJob(name, payload),
    addAll: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: name, payload }))),
    async start(handler) {
      const runner = await run({
        connectionString: url,
        logger,
        preset: { worker: { concurrentJobs: concurrency, ...(isBatched ? batched : {}) } },
        maxPoolSize: 10,
        noHandleSignals: true,
        taskList: {
          async [name](payload) {
            await handler(payload as Payload);
          },
        },
      });
      return () => runner.stop();
    },
    close: async () => utils.release(),
  };
}
