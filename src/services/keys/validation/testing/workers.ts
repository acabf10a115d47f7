import { startProcess, type WorkerProcess } from '../../../../testing/worker-processes.ts';

/** The start parameters of a worker. */
export interface Start {
  readonly url: string | undefined;
  readonly dataDir: string;
  readonly redisUrl?: string | undefined;
  /** The error of its wall clock. */
  readonly clockOffsetMs: number;
}

/** A real process of the service. */
export type Worker = WorkerProcess;

/** Starts processes on one database. Resolves when all are ready. */
export const startWorkers = (starts: readonly Start[]): Promise<Worker[]> =>
  Promise.all(starts.map((start) => startProcess(new URL('./worker.ts', import.meta.url), start)));
