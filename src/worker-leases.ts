import cluster, { type Worker } from 'node:cluster';

/*
 * The background jobs of a process run under its lease, which lasts for seconds after the process has died. The primary process sees its
 * workers die, so each worker tells it the lease that it takes.
 */

interface LeaseTold {
  readonly 'plinth:lease': string;
}

/** Runs in a worker: tells the primary process which lease this process is about to take. */
export function tellLease(leaseId: string): void {
  process.send?.({ 'plinth:lease': leaseId } satisfies LeaseTold);
}

/** Runs in the primary process: calls `onEnd` with the last lease of each worker that has ended, unless the worker ended in order. */
export function watchLeases(onEnd: (leaseId: string) => void): void {
  const leases = new WeakMap<Worker, string>();
  cluster.on('message', (worker, message: unknown) => {
    if (isLease(message)) leases.set(worker, message['plinth:lease']);
  });
  cluster.on('exit', (worker, code) => {
    const lease = leases.get(worker);
    if (lease !== undefined && code !== 0) onEnd(lease);
  });
}

const isLease = (message: unknown): message is LeaseTold =>
  typeof message === 'object' && message !== null && 'plinth:lease' in message;
