/** Bounds of workflows and their runs. */
export const runLimits = {
  /** The longest name: the queue of a workflow must have one, too. */
  nameLength: 100,
  version: 1_000_000,
  /** The most steps, and the most signals, of a run. */
  steps: 10_000,
  signals: 10_000,
  /** The most attempts of a step. */
  stepAttempts: 100,
  stepName: /^[A-Za-z0-9][A-Za-z0-9_.:#-]{0,127}$/,
  /** A wait for a signal without a time limit lasts as long as a job may be delayed. */
  longestWaitMs: 8_760 * 3_600_000,
} as const;

/** Queues of runs that outside workers execute, and of runs that code of the platform executes, which no outside worker gets. */
const prefixes = { http: 'workflow.', code: 'plinth.workflow.' } as const;

/**
 * The queue from which workers take the jobs of a workflow's runs. It has no tenant in its name, so a workflow that a tenant registers has
 * another one than that of the same name whose code the platform has.
 */
export const queueOf = ({
  name,
  version,
  source,
}: {
  readonly name: string;
  readonly version: number;
  readonly source: 'code' | 'http';
}): string => `${prefixes[source]}${name}.v${version}`;

/** Whether the jobs of a queue execute runs. */
export const isQueueOfRuns = (queue: string): boolean =>
  queue.startsWith(prefixes.http) || queue.startsWith(prefixes.code);
