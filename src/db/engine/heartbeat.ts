import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';

/** What the heartbeat's thread and the main thread share: nanoseconds of the machine's monotonic clock. */
export const cell = { renewed: 0, alive: 1 } as const;

export interface HeartbeatData {
  readonly url: string;
  readonly leaseId: string;
  readonly ttlMs: number;
  readonly cells: BigInt64Array<SharedArrayBuffer>;
}

export interface Heartbeat {
  /** Begins to renew another lease. */
  follow(leaseId: string): void;
  stop(): Promise<void>;
}

/** How often a lease is renewed in its time. */
export const beats = 5;
/** The milliseconds after which the thread assumes that the main thread will not answer any more. */
export const longestSilenceMs = 30_000;

/**
 * Renews a lease from a thread with its own connection, so that a handler that blocks the process does not lose it. The thread ends by
 * itself only with the process; it stops renewing when the main thread does nothing for 30 seconds.
 */
export function startHeartbeat({
  data,
  log,
  onEnded,
}: {
  data: HeartbeatData;
  log: Log;
  onEnded: (leaseId: string) => void;
}): Heartbeat {
  let stopped = false;
  let { leaseId } = data;
  let worker = begin();
  const alive = setInterval(
    () => Atomics.store(data.cells, cell.alive, process.hrtime.bigint()),
    1_000,
  ).unref();

  function begin(): Worker {
    const thread = new Worker(new URL('./heartbeat-thread.ts', import.meta.url), {
      workerData: { ...data, leaseId },
    });
    thread.unref();
    thread.on('message', (ended: string) => onEnded(ended));
    thread.on('error', (error) =>
      log.error({ err: error }, 'the heartbeat of the jobs failed and begins again'),
    );
    thread.on('exit', () => void (stopped || setTimeout(() => stopped || (worker = begin()), 100).unref()));
    return thread;
  }

  return {
    follow(next) {
      leaseId = next;
      worker.postMessage(next);
    },
    async stop() {
      stopped = true;
      clearInterval(alive);
      await worker.terminate();
    },
  };
}
