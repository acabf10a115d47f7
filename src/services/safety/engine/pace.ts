import { monotonic } from '../../../db/clock.ts';
import type { Steps } from './build.ts';

/** Milliseconds of work after which other tasks run. */
const sliceMs = 4;
/** Units of work of tenant rules that one scan may take: about 20 ns each, or less than half a second. */
const mostUnits = 20_000_000;
/** So many units take about ten microseconds, so that to look at the clock after them costs next to nothing. */
const unitsPerLook = 512;

/** Thrown when a scan takes longer than its deadline, or its expressions more work than a scan may take. */
export class Interrupted extends Error {
  readonly type: 'engine.timeout' | 'engine.limit';

  constructor(type: 'engine.timeout' | 'engine.limit') {
    super(type === 'engine.timeout' ? 'the scan took too long' : 'the scan passed a limit of the engine');
    this.type = type;
  }
}

/** The pace of one scan: it works in slices of a few milliseconds. */
export class Pace {
  readonly #pause: () => Promise<void>;
  readonly #endsAt: number;
  #began = monotonic();
  #units = 0;
  #looked = 0;

  /** @param endsAt the deadline, by the monotonic clock */
  constructor(pause: () => Promise<void>, endsAt = Infinity) {
    this.#pause = pause;
    this.#endsAt = endsAt;
  }

  /** Whether to rest now: other tasks should run, or the deadline has passed, which `rest` then says. */
  get isDue(): boolean {
    const now = monotonic();
    return now - this.#began >= sliceMs || now >= this.#endsAt;
  }

  /** The same between small pieces of counted work, of which most are much shorter than a look at the clock. */
  get isDueAfterWork(): boolean {
    if (this.#units - this.#looked < unitsPerLook) return false;
    this.#looked = this.#units;
    return this.isDue;
  }

  /** Whether the deadline has passed. */
  get isOver(): boolean {
    return monotonic() >= this.#endsAt;
  }

  /** Lets other tasks run. @throws Interrupted when the deadline has passed */
  async rest(): Promise<void> {
    if (this.isOver) throw new Interrupted('engine.timeout');
    await this.#pause();
    this.#began = monotonic();
  }

  /** A pace that rests but never ends, for what has to follow even when a scan has taken too long. */
  unhurried(): Pace {
    return new Pace(this.#pause);
  }

  /** Lets other tasks run if they should. @throws Interrupted when the deadline has passed */
  async restIfDue(): Promise<void> {
    if (this.isDue) await this.rest();
  }

  /** Does work in steps, between which other tasks may run. */
  async inSlices<Value>(steps: Steps<Value>): Promise<Value> {
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      if (this.isDue) await this.rest();
    }
  }

  /** Waits for work that others may wait for too. @throws Interrupted when the deadline passes first */
  async waitFor<Value>(work: Promise<Value>): Promise<Value> {
    if (this.isOver) throw new Interrupted('engine.timeout');
    const { promise: over, reject } = Promise.withResolvers<never>();
    const end =
      this.#endsAt === Infinity
        ? undefined
        : setTimeout(() => reject(new Interrupted('engine.timeout')), this.#endsAt - monotonic());
    try {
      return await Promise.race([work, over]);
    } finally {
      clearTimeout(end);
      this.#began = monotonic();
    }
  }

  /** Counts work of expressions and their matches. @throws Interrupted when a scan may not take that much */
  spend(units: number): void {
    this.#units += units;
    if (this.#units > mostUnits) throw new Interrupted('engine.limit');
  }

  /** Goes through a range in steps, between which other tasks may run. */
  async through(
    from: number,
    to: number,
    step: number,
    work: (from: number, to: number) => void,
  ): Promise<void> {
    for (let at = from; at < to; at += step) {
      work(at, Math.min(to, at + step));
      if (this.isDue) await this.rest();
    }
  }
}
