import { subBucketMs, type Holder, type Rate, type RateStore, type Rest } from './rates.ts';

/** Gives unspent units back to the store: in batches, one after the other. */
export class Returns {
  readonly #store: Pick<RateStore, 'giveBack'>;
  readonly #rests: Rest[] = [];
  #giving: Promise<void> = Promise.resolve();

  constructor(store: Pick<RateStore, 'giveBack'>) {
    this.#store = store;
  }

  /** Notes units that were counted in the sub-bucket `slot`, for the next batch. */
  add(holder: Holder, rate: Rate, slot: number, units: number): void {
    this.#rests.push({ ...holder, subMs: subBucketMs(rate.windowMs), slot, units });
  }

  /**
   * Gives back the noted units. Resolves when the store has received this batch and all earlier ones, or has failed to receive
   * them.
   */
  flush(): Promise<void> {
    if (this.#rests.length === 0) return this.#giving;
    const batch = this.#rests.splice(0);
    // Units that cannot be given back stay counted until they leave the window: too few are admitted, never too many.
    this.#giving = this.#giving.then(() => this.#store.giveBack(batch)).catch(() => {});
    return this.#giving;
  }
}
