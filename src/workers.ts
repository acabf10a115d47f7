import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { shareMetrics } from './http/shared-metrics.ts';
import { watchPulse } from './pulse.ts';
import { watchLeases } from './worker-leases.ts';

/** Milliseconds before a dead worker is replaced; a worker that always dies at once must not keep the machine busy. */
const pause = 1_000;

/** A worker ended before it served; it has printed the reason itself. */
export class WorkerEnded extends Error {}

export interface Workers {
  /** Resolves with the port when every worker listens. Rejects with a `WorkerEnded` when one cannot; stays pending after `close`. */
  readonly listening: Promise<number>;
  /** Asks all workers to end and waits until they have ended. */
  close(): Promise<void>;
}

/**
 * Starts `count` processes that share one port, and replaces processes that die, until `close` is called. `endLease` gives the jobs of a
 * process that has died to the others.
 */
export function startWorkers(
  count: number,
  environment: Readonly<Record<string, string>>,
  log: Logger,
  endLease: (leaseId: string) => Promise<void>,
): Workers {
  let ending = false;
  const start = () => cluster.fork(environment);
  const listening = Promise.all(Array.from({ length: count }, () => firstListen(start(), () => ending)));
  shareMetrics();
  watchLeases((leaseId) => {
    endLease(leaseId).catch((error: unknown) =>
      log.warn({ err: error }, 'the jobs of a worker that ended wait until its lease has run out'),
    );
  });
  cluster.on('listening', (worker) => {
    log.info({ worker: worker.process.pid }, 'a worker listens');
    watchPulse(worker, () => {
      log.error({ worker: worker.process.pid }, 'a worker does not answer any more and is ended');
      worker.process.kill('SIGKILL');
    });
  });
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

function firstListen(worker: Worker, ending: () => boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('listening', ({ port }) => resolve(port));
    worker.once('exit', (code) => {
      if (!ending()) reject(new WorkerEnded(`A worker ended with ${code} before it listened`));
    });
  });
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.process.kill('SIGTERM');
  });
}
