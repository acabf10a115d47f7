import type { Model } from './model.ts';
import type { KnownIds, ListingStep, ListOptions, Pace } from './types.ts';

/** Milliseconds after which a listing returns to the event loop. */
const pauseAfterMs = 10;

/** Milliseconds that one check of a listing may take. */
const longestCheckMs = 1_000;

/** Thrown inside a listing when the model has moved on while it was suspended. */
export class Moved extends Error {}

export type Suspension<Result> = Generator<ListingStep, Result, KnownIds | undefined>;

/** Decides where a listing may be suspended, and checks the model when the listing continues. */
export class Pacing {
  readonly #model: Model;
  readonly #clock: () => number;
  readonly #end: number;
  #pausedAt: number;
  /** The revision to which the listing's results belong. */
  revision: number;
  /** Whether the listing must stop when the model has moved on. False while it reads data that may span revisions. */
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
    return this.#clock() - this.#pausedAt >= pauseAfterMs;
  }

  /** Returns the pace for checks that begin now: they pause when the listing has to. */
  pace(): Pace {
    const clock = this.#clock;
    const isPauseDue = () => this.isPauseDue;
    // Most checks end before anything reads the clock.
    let end: number | undefined;
    return {
      get isPauseDue() {
        end ??= clock() + longestCheckMs;
        return isPauseDue();
      },
      get isOver() {
        return clock() >= (end ?? Infinity);
      },
    };
  }

  /** Runs work that pauses by itself. */
  *through<Result>(work: Generator<undefined, Result, undefined>): Suspension<Result> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      yield* this.suspend({ need: 'pause' });
    }
  }

  /** Yields when a pause is due. @throws Moved if the model changed meanwhile */
  *pause(): Suspension<void> {
    if (this.isPauseDue) yield* this.suspend({ need: 'pause' });
  }

  /** Yields a need and returns the caller's answer. @throws Moved if the model changed meanwhile */
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
