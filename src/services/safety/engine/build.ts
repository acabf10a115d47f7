import type { Pace } from './pace.ts';

/** Work that is done in short steps: it yields where others may have their turn, and returns what it made. */
export type Steps<Value> = Generator<void, Value, void>;

/** Something that is made once, in slices, when a scan first needs it. Scans that need it meanwhile wait for the same. */
export class Build<Value> {
  readonly #steps: () => Steps<Value>;
  #value: Value | undefined;
  #building: Promise<Value> | undefined;

  constructor(steps: () => Steps<Value>) {
    this.#steps = steps;
  }

  async result(pace: Pace): Promise<Value> {
    while (this.#value === undefined) {
      const isOwn = this.#building === undefined;
      try {
        // The scan that began it may end early, but others wait for it.
        this.#building ??= pace.unhurried().inSlices(this.#steps());
        this.#value = await pace.waitFor(this.#building);
      } catch (error) {
        const isOver = pace.isOver;
        if (!isOver) this.#building = undefined;
        // Another scan could not go on; this one makes it itself.
        if (isOwn || isOver) throw error;
      }
    }
    return this.#value;
  }
}
