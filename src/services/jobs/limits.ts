/** Bounds of what one request or one tenant may have. */
export const limits = {
  /** The most jobs or dead letters that one request changes. */
  batch: 1_000,
  crons: 1_000,
  workflows: 1_000,
  /** The most workflow names of an answer. */
  workflowNames: 10_000,
  /** The most workers that wait for jobs in one process. */
  waiting: 1_000,
  /** The most of them that belong to one tenant. */
  waitingOfTenant: 250,
  leaseMs: [5_000, 15 * 60_000],
  waitMs: [0, 20_000],
  olderThanMs: [0, 87_600 * 3_600_000],
} as const;
