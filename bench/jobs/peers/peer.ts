/** A job queue as the measurements use it: the engine, or a library with which it is compared. */
export interface Peer {
  readonly name: string;
  /** Adds a job and resolves when it is stored. */
  readonly add: (payload: Payload) => Promise<unknown>;
  /** Adds jobs with one call and resolves when they are stored. */
  readonly addAll: (payloads: readonly Payload[]) => Promise<unknown>;
  /** Executes jobs until the returned function is called, which resolves when the ends of all jobs are recorded. */
  readonly start: (handler: Handler) => Promise<() => Promise<unknown>>;
  readonly close: () => Promise<unknown>;
}

export interface Payload {
  /** A text that distinguishes the jobs of one measurement from those of another. */
  readonly nth: number;
}

export type Handler = (payload: Payload) => unknown;

/** The maximum number of jobs that run at the same time in each queue. */
export const slots = 10;

/** The maximum number of jobs in one call. */
export const batch = 1_000;

/** Adds many jobs in calls of a thousand. */
export async function fill(peer: Pick<Peer, 'addAll'>, count: number): Promise<void> {
  for (let from = 0; from < count; from += batch)
    await peer.addAll(Array.from({ length: Math.min(batch, count - from) }, (_, at) => ({ nth: from + at })));
}
