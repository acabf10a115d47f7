/**
 * Lets scans take turns: each works for a few milliseconds in a turn of the event loop, and tenants come one after the other. A scan
 * of one tenant delays another by one slice for each tenant at work, however much that tenant sends at once.
 */
export class Turns {
  /** The waiting work by tenant. The tenant that was served last comes after the others. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isScheduled = false;

  /** Waits for the next turn of a tenant. */
  next(tenant: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(tenant);
    if (waiting === undefined) this.#waiting.set(tenant, [resolve]);
    else waiting.push(resolve);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#serve());
  }

  #serve(): void {
    this.#isScheduled = false;
    for (const [tenant, waiting] of this.#waiting) {
      const resume = waiting.shift();
      this.#waiting.delete(tenant);
      if (waiting.length > 0) this.#waiting.set(tenant, waiting);
      resume?.();
      break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
