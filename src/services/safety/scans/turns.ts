import { monotonic } from '../../../db/clock.ts';

/** The most pieces of work, and the milliseconds of them, that one turn of the event loop serves. */
const mostTogether = 16;
const turnMs = 4;

/**
 * Lets scans take turns: each works for a few milliseconds, and tenants come one after the other. A turn of the event loop serves as many
 * as fit into the time of one, because most scans take much less. A scan of one tenant delays another by one slice for each tenant at
 * work, however much that tenant sends at once.
 */
export class Turns {
  /** The waiting work by tenant. The tenant that was served last comes after the others. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isScheduled = false;
  #ends = 0;

  /** Waits for the next turn of a tenant. */
  next(tenant: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(tenant);
    if (waiting === undefined) this.#waiting.set(tenant, [resolve]);
    else waiting.push(resolve);
    this.#schedule();
    return promise;
  }

  /** What resumes in one of these callbacks works until it waits again, before the next callback runs. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#ends = monotonic() + turnMs;
      this.#serve();
    });
    for (let more = 1; more < mostTogether; more++)
      setImmediate(() => {
        if (this.#waiting.size > 0 && monotonic() < this.#ends) this.#serve();
      });
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #serve(): void {
    for (const [tenant, waiting] of this.#waiting) {
      const resume = waiting.shift();
      this.#waiting.delete(tenant);
      if (waiting.length > 0) this.#waiting.set(tenant, waiting);
      resume?.();
      break;
    }
  }
}
