import { jobsOf } from '../../services/jobs/jobs.ts';
import { leasesOf } from '../../services/jobs/leases.ts';
import { runsOf } from '../../services/jobs/runs.ts';
import { workflowsOf } from '../../services/jobs/workflows.ts';
import type { Client } from '../client.ts';
import type { Worker, WorkerOptions } from './types.ts';
import type { RunningWorker } from './worker.ts';

/** Creates a worker. Until it starts, nothing is sent and no code is loaded. */
export type CreateWorker = (options: WorkerOptions) => Worker;

const defaultGraceMs = 20_000;

/**
 * The code of workers is loaded when a worker starts, so pages that only use the service do not pay for it. That code imports
 * nothing of the client and receives its connection here, so that bundlers keep the client in one piece.
 */
export const workerOf =
  (client: Client): CreateWorker =>
  (options) => {
    const resources = {
      jobs: jobsOf(client),
      leases: leasesOf(client),
      runs: runsOf(client),
      workflows: workflowsOf(client),
    };
    let running: Promise<RunningWorker> | undefined;
    let started: Promise<void> | undefined;
    let stopped: Promise<void> | undefined;
    const [done, end] = promise();
    const [hurried, hurry] = promise();
    const timers = new Set<ReturnType<typeof setTimeout>>();
    let isOver = false;

    async function begin(): Promise<void> {
      if (stopped) throw new Error('the worker has been stopped');
      running = import('./worker.ts').then(({ RunningWorker }) => new RunningWorker(resources, options));
      try {
        await (await running).start();
      } catch (error) {
        end();
        throw error;
      }
    }

    async function finish(): Promise<void> {
      const worker = await running?.catch(() => undefined);
      await worker?.stop(hurried);
      isOver = true;
      timers.forEach(clearTimeout);
      end();
    }

    return {
      start: () => (started ??= begin()),
      stop(graceMs = defaultGraceMs) {
        if (!isOver) timers.add(setTimeout(hurry, graceMs));
        return (stopped ??= finish());
      },
      done,
    };
  };

function promise(): [promise: Promise<void>, resolve: () => void] {
  let resolve = () => {};
  return [new Promise<void>((settle) => (resolve = settle)), resolve];
}
