import type { Model } from './model.ts';
import type { KnownIds, ListingStep, ListOptions } from './types.ts';

/** Milliseconds after which a listing lets others have the event loop. */
const PAUSE = 10;

/** Thrown inside a listing when the model has moved on while it was suspended. */
export class Moved extends Error {}

export type Suspension<Result> = Generator<ListingStep, Result, KnownIds | undefined>;

/** Where a listing may be suspended, and what it must look at when it goes on. */
export class Pacing {
  readonly #model: Model;
  readonly #clock: () => number;
  readonly #end: number;
  #pausedAt: number;
  /** The revision that the listing's answers are of. */
  revision: number;
  /** Whether the listing must not go on when the model has moved; false while it reads what may span revisions. */
  steady = true;

  constructor(model: Model, { clock, budget }: ListOptions) {
    this.#model = model;
    this.#clock = clock;
    this.#pausedAt = clock();
    this.#end = this.#pausedAt + budget;
    this.revision = model.revision;
  }

  get isOver(): boolean {
    return this.#clock() >= this.#end;
  }

  get isPauseDue(): boolean {
    return this.#clock() - this.#pausedAt >= PAUSE;
  }

  /** Yields if it is time to; throws `Moved` if the model changed meanwhile. */
  *pause(): Suspension<void> {
    if (this.isPauseDue) yield* this.suspend({ need: 'pause' });
  }

  /** Yields a need and returns what the caller answers; throws `Moved` if the model changed meanwhile. */
  *suspend(step: ListingStep): Suspension<KnownIds | undefined> {
    const answer = yield step;
    this.#pausedAt = this.#clock();
    if (this.#model.revision !== this.revision) {
      if (this.steady) throw new Moved();
      this.revision = this.#model.revision;
    }
    return answer;
  }
}
