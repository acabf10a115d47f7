import type { Pace } from './engine/types.ts';
import { monotonic } from '../../db/clock.ts';

/** Milliseconds of work in one turn of the event loop, after which other tasks run first. */
const sliceMs = 8;
/** Milliseconds of evaluation that one request may use, not counting waiting. */
export const budgetMs = 1_000;

/**
 * Schedules evaluation. Long work runs in slices, one per turn of the event loop, and tenants with work take turns: a request
 * of one tenant delays another by one slice per tenant at work, however much it asks at once. Work that ends before it is
 * measured never comes here.
 */
export class Turns {
  /** The waiting work by tenant. The tenant that was served last comes after the others. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isScheduled = false;
  /** Milliseconds left in this turn. */
  #left = sliceMs;

  /** Whether work that begins now has to wait. */
  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** Records measured work. */
  spend(milliseconds: number): void {
    this.#left -= milliseconds;
    if (this.#left <= 0) this.#schedule();
  }

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
    this.#left = sliceMs;
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

/** The time of one request: its slices, and their total. */
export class Slices implements Pace {
  readonly #turns: Turns;
  readonly #tenant: string;
  /** When the current slice began. Undefined as long as nothing read the clock. */
  #began: number | undefined;
  #spent = 0;
  /** Number of slices that have ended. */
  count = 0;

  constructor(turns: Turns, tenant: string) {
    this.#turns = turns;
    this.#tenant = tenant;
  }

  get isPauseDue(): boolean {
    const now = monotonic();
    this.#began ??= now;
    return now - this.#began >= sliceMs;
  }

  get isOver(): boolean {
    return this.#began !== undefined && this.#spent + monotonic() - this.#began >= budgetMs;
  }

  /** Begins a slice whose length is to be measured in any case. */
  begin(): void {
    this.#began ??= monotonic();
  }

  /** Ends a slice, whether the work continues or not. Records nothing for work so short that nothing read the clock. */
  end(): void {
    if (this.#began === undefined) return;
    const took = monotonic() - this.#began;
    this.#began = undefined;
    this.#spent += took;
    this.count += 1;
    this.#turns.spend(took);
  }

  /** Lets other tasks run, then begins a slice. */
  async pause(): Promise<void> {
    this.end();
    await this.#turns.next(this.#tenant);
    this.begin();
  }
}

/** Runs work in slices to its end. */
export async function inSlices<Result>(
  slices: Slices,
  work: Generator<undefined, Result, undefined>,
): Promise<Result> {
  try {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      if (slices.isPauseDue) await slices.pause();
    }
  } finally {
    slices.end();
  }
}
