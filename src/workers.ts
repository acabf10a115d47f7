import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { shareMetrics } from './http/shared-metrics.ts';

/** Milliseconds before a worker that died is replaced; one that dies at once must not keep the machine busy. */
const pause = 1_000;

/** A worker ended before it served; it has said itself why. */
export class WorkerEnded extends Error {}

export interface Workers {
  /** The port, when every worker listens. Rejects with a `WorkerEnded` when one cannot. */
  readonly listening: Promise<number>;
  /** Asks all workers to end and waits for them. */
  close(): Promise<void>;
}

/** Starts `count` processes that share one port, and replaces those that die until they are asked to end. */
export function startWorkers(
  count: number,
  environment: Readonly<Record<string, string>>,
  log: Logger,
): Workers {
  let ending = false;
  const start = () => cluster.fork(environment);
  const listening = Promise.all(Array.from({ length: count }, () => firstListen(start())));
  shareMetrics();
  cluster.on('listening', ({ process }) => log.info({ worker: process.pid }, 'a worker listens'));
  cluster.on('exit', (worker, code, signal) => {
    if (ending) return;
    log.error({ worker: worker.process.pid, code, signal }, 'a worker ended and is replaced');
    setTimeout(() => ending || start(), pause);
  });
  return {
    listening: listening.then(([port = 0]) => port),
    async close() {
      ending = true;
      const running = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      await Promise.all(running.map(ended));
    },
  };
}

function firstListen(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('listening', ({ port }) => resolve(port));
    worker.once('exit', (code) => reject(new WorkerEnded(`A worker ended with ${code} before it listened`)));
  });
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.process.kill('SIGTERM');
  });
}
