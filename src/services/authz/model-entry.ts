import type { Model } from './engine/model.ts';

/** What a process knows of one tenant: its model, if loaded, and how current that is. */
export interface Entry {
  readonly tenant: string;
  model: Model | undefined;
  /** Monotonic milliseconds at which the last successful validation began: the model is no older than that. */
  validatedAt: number;
  /** The newest revision that this process acknowledged to a caller; no decision may be older. */
  acknowledged: number;
  /** Monotonic milliseconds of the last decision. */
  usedAt: number;
  /** Whether a decision was made since the last poll. */
  polled: boolean;
  /** Whether the last validation failed. */
  away: boolean;
  /** Requests under way; what they use stays in memory. */
  users: number;
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
  loading: undefined,
  validating: undefined,
  pulling: undefined,
});

/** Monotonic milliseconds: they go on while the process is paused and do not jump with the wall clock. */
export const monotonic = () => performance.now();

/** The database's clock, which decides about expiry: measured with every validation, to half a round trip. */
export class DatabaseClock {
  #offset: number | undefined;

  /** Notes what the database said between two moments of the monotonic clock. */
  observe(now: number, began: number, ended: number): void {
    this.#offset = now - (began + ended) / 2;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#offset === undefined ? Date.now() : monotonic() + this.#offset;
  }
}
