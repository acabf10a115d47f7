import { Logger, makeWorkerUtils, run, type Task } from 'graphile-worker';
import type { Database } from '../../src/db/index.ts';

/** The most jobs that run at once, on either side. */
export const slots = 10;

const logger = new Logger(() => () => {});

/** Graphile-worker with its batching: jobs are fetched in hundreds and completed together. */
const batched = {
  worker: {
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    concurrentJobs: slots,
  },
};

/** Graphile-worker on a database, silent and with as many connections as the engine. */
export async function peer(url: string) {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  return {
    utils,
    start: (task: Task) =>
      run({
        connectionString: url,
        logger,
        preset: batched,
        maxPoolSize: 10,
        noHandleSignals: true,
        taskList: { nothing: task },
      }),
    /** Adds many jobs in statements of a thousand. */
    async add(count: number): Promise<void> {
      for (let left = count; left > 0; left -= 1_000)
        await utils.addJobs(
          Array.from({ length: Math.min(left, 1_000) }, () => ({ identifier: 'nothing', payload: {} })),
        );
    },
  };
}

/** Brings the statistics up to date, so that neither side is planned for an empty table. */
export async function analyze(db: Database): Promise<void> {
  await db.sql.unsafe('vacuum analyze');
}
