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

/** The queue from which workers take the jobs of a workflow's runs. */
export const queueOf = (name: string, version: number): string => `${queuePrefix}${name}.v${version}`;

export const queuePrefix = 'workflow.';
