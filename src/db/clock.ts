/** Monotonic milliseconds: they continue while the process is paused and do not jump with the wall clock. */
export const monotonic = () => performance.now();

/** Round trips longer than this many milliseconds do not replace an earlier measurement. */
const slow = 1_000;

/** A clock in milliseconds since the epoch. */
export interface Clock {
  now(): number;
}

/**
 * The database's clock, which decides about expiry, so that processes whose clocks differ agree on what has expired. Code that reads
 * the database regularly measures it, to half a round trip. Until it is measured, and on PGlite, it is the process's own clock.
 */
export class DatabaseClock implements Clock {
  #offset: number | undefined;
  #uncertainty = 0;

  /** Records the database's time, read between two moments of the monotonic clock. */
  observe(now: number, began: number, ended: number): void {
    if (this.#offset !== undefined && ended - began > slow) return;
    this.#offset = now - (began + ended) / 2;
    this.#uncertainty = (ended - began) / 2;
  }

  now(): number {
    return this.#offset === undefined ? Date.now() : monotonic() + this.#offset;
  }

  /** The maximum error of `now` in milliseconds, in either direction. */
  uncertainty(): number {
    return this.#uncertainty;
  }
}
