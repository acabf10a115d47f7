import type * as T from '../../services/jobs/types.ts';
import { milliseconds } from './durations.ts';
import { workerName } from './name.ts';
import type { JobHandler, WorkerJob, WorkerOptions, WorkflowCode } from './types.ts';

/** The options of a worker, checked and with their defaults. */
export interface Settings {
  /** All queues, including those of the workflows. */
  readonly queues: readonly string[];
  readonly handlers: ReadonlyMap<string, Readonly<Record<string, JobHandler>>>;
  /** The code of the workflows, by the queue of their runs. */
  readonly codes: ReadonlyMap<string, WorkflowCode>;
  readonly registrations: readonly { readonly name: string; readonly body: T.WorkflowInput }[];
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly name: string;
  readonly onError: (error: unknown, job?: WorkerJob) => void;
}

/** The maximum numbers of queues and of jobs in a request for jobs. */
const [mostQueues, mostJobs] = [20, 1_000];

/** @throws TypeError naming the option that is wrong */
export function settingsOf(options: WorkerOptions): Settings {
  const { concurrency = 16, lease = '30s', wait = '20s', name = workerName(), onError = toConsole } = options;
  const handlers = new Map(Object.entries(options.queues ?? {}));
  const { codes, registrations } = workflowsOf(options);
  const queues = [...handlers.keys(), ...codes.keys()];
  if (queues.length < 1 || queues.length > mostQueues)
    throw new TypeError(`queues: must be 1 to ${mostQueues}, with the versions of workflows`);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > mostJobs)
    throw new TypeError(`concurrency: must be from 1 to ${mostJobs}`);
  return {
    queues,
    handlers,
    codes,
    registrations,
    concurrency,
    leaseMs: milliseconds(lease, 'lease', [5_000, 900_000]),
    waitMs: milliseconds(wait, 'wait', [0, 20_000]),
    name,
    onError: safely(onError),
  };
}

function workflowsOf({ workflows = {} }: WorkerOptions) {
  const codes = new Map<string, WorkflowCode>();
  const registrations: { name: string; body: T.WorkflowInput }[] = [];
  for (const [name, definitions] of Object.entries(workflows))
    for (const { code, version = 1, ...rest } of [definitions].flat()) {
      codes.set(`workflow.${name}.v${version}`, code);
      registrations.push({ name, body: { ...rest, version } });
    }
  return { codes, registrations };
}

/** A listener that fails must not stop the worker. */
const safely =
  (listener: NonNullable<WorkerOptions['onError']>): Settings['onError'] =>
  (...heard) => {
    try {
      listener(...heard);
    } catch (error) {
      toConsole(error);
    }
  };

function toConsole(error: unknown, job?: WorkerJob): void {
  const text = error instanceof Error ? error.message : error;
  console.error(job === undefined ? 'plinth worker:' : `plinth worker: ${job.name} ${job.id}:`, text);
}
