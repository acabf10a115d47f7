import type { Model } from './engine/model.ts';

/** What a process knows about one tenant: its model, if loaded, and how current the model is. */
export interface Entry {
  readonly tenant: string;
  model: Model | undefined;
  /** Monotonic milliseconds at which the last successful validation began. The model is at least as new as that moment. */
  validatedAt: number;
  /** The newest revision that this process acknowledged to a caller. No decision may be older. */
  acknowledged: number;
  /** Monotonic milliseconds of the last decision. */
  usedAt: number;
  /** Whether a decision was made since the last poll. */
  polled: boolean;
  /** Whether the last validation failed. */
  away: boolean;
  /** Number of requests in progress. What they use stays in memory. */
  users: number;
  /** Paused decisions that let other tasks run. The model does not move on until they end, unless that takes too long. */
  readonly paused: Set<object>;
  /** Resolvers of the callers that wait for the paused decisions to end. */
  readonly waiting: Set<() => void>;
  loading: Promise<void> | undefined;
  validating: Promise<void> | undefined;
  pulling: Promise<void> | undefined;
}

export const newEntry = (tenant: string): Entry => ({
  tenant,
  model: undefined,
  validatedAt: -Infinity,
  acknowledged: 0,
  usedAt: 0,
  polled: false,
  away: false,
  users: 0,
  paused: new Set(),
  waiting: new Set(),
  loading: undefined,
  validating: undefined,
  pulling: undefined,
});

/** Milliseconds for which changes of a model wait for decisions in progress. A decision that takes longer starts again. */
const longestHoldMs = 250;

/** Waits until no paused decision is left, but at most `HOLD` milliseconds. */
export async function settled(entry: Entry): Promise<void> {
  if (entry.paused.size === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, longestHoldMs);
  entry.waiting.add(resolve);
  await promise;
  clearTimeout(timer);
  entry.waiting.delete(resolve);
}

/** Ends a decision that was paused. */
export function ended(entry: Entry, decision: object): void {
  if (!entry.paused.delete(decision) || entry.paused.size > 0) return;
  for (const resolve of entry.waiting) resolve();
}
