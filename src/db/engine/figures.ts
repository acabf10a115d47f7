/** How an attempt ended: `recorded` by its handler in a transaction of its own, or with this state of the job. */
export type Ending = 'completed' | 'recorded' | 'retrying' | 'failed' | 'pending';

/** What this process has done with the jobs of a queue. */
export interface QueueTally {
  claimed: number;
  readonly ended: Record<Ending, number>;
}

/** What this process has done since its start, for the metrics. */
export interface EngineTally {
  readonly queues: ReadonlyMap<string, Readonly<QueueTally>>;
  /** How often its lease was ended by another process. */
  readonly leasesLost: number;
}

export const emptyTally = (): QueueTally => ({
  claimed: 0,
  ended: { completed: 0, recorded: 0, retrying: 0, failed: 0, pending: 0 },
});
