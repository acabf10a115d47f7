import { availableParallelism } from 'node:os';

/** How many requests may run at once, and how many may wait. */
export interface TurnLimits {
  /** Running requests of all callers together. */
  readonly running: number;
  /** Running requests of one caller: fewer than `running`, so that there is room for another caller. */
  readonly runningEach: number;
  readonly waiting: number;
  readonly waitingEach: number;
  /** Milliseconds that a request may wait. */
  readonly patience: number;
}

const cores = availableParallelism();

/**
 * Enough to keep a database and the cores busy, and more than any queue for one kind of work holds, so that such a queue can
 * report that it is full. These limits also bound how long one caller's requests can delay the statements of another.
 */
export const usualTurns: TurnLimits = {
  running: 256 * cores,
  runningEach: 64 * cores,
  waiting: 10_000,
  waitingEach: 1_000,
  patience: 5_000,
};

interface Waiting {
  readonly since: number;
  readonly go: () => void;
  readonly giveUp: () => void;
}

interface Line {
  running: number;
  readonly waiting: Waiting[];
}

/**
 * Lets callers take turns, because the work of all callers shares the same few database connections: a burst of one caller waits
 * behind that caller's own requests and does not delay those of others. While there is room, a turn costs two additions.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #lines = new Map<string, Line>();
  /** The lines with waiting requests, in the order of their turns. */
  readonly #ring: Line[] = [];
  #running = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: TurnLimits = usualTurns) {
    this.#limits = limits;
  }

  /** The numbers of running and of waiting requests. */
  get counts(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#waiting };
  }

  /**
   * Takes a turn for this caller: at once (returns undefined), or when the promise resolves; `give` returns the turn. Throws the
   * error of `busy` when too many requests are already waiting; the promise rejects with the same error when the request has
   * waited too long.
   */
  take(caller: string, busy: () => Error): Promise<void> | undefined {
    let line = this.#lines.get(caller);
    if (!line) this.#lines.set(caller, (line = { running: 0, waiting: [] }));
    const { running, runningEach, waiting, waitingEach } = this.#limits;
    if (this.#running < running && line.running < runningEach && line.waiting.length === 0) {
      this.#running++;
      line.running++;
      return undefined;
    }
    if (this.#waiting >= waiting || line.waiting.length >= waitingEach) {
      this.#forget(caller, line);
      throw busy();
    }
    return this.#wait(line, busy);
  }

  give(caller: string): void {
    const line = this.#lines.get(caller)!;
    this.#running--;
    line.running--;
    if (this.#waiting > 0) this.#next();
    this.#forget(caller, line);
  }

  /** Removes the line of a caller that has no requests left. */
  #forget(caller: string, line: Line): void {
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(caller);
  }

  #wait(line: Line, busy: () => Error): Promise<void> {
    this.#waiting++;
    if (line.waiting.length === 0) this.#ring.push(line);
    this.#timer ??= setInterval(() => this.#dismiss(), this.#limits.patience / 10).unref();
    return new Promise((resolve, reject) => {
      line.waiting.push({ since: performance.now(), go: resolve, giveUp: () => reject(busy()) });
    });
  }

  /** Goes round once: each line gets one turn while turns are left; a line that has reached its own limit is skipped. */
  #next(): void {
    const { running, runningEach } = this.#limits;
    for (let left = this.#ring.length; left > 0 && this.#running < running; left--) {
      const line = this.#ring.shift()!;
      if (line.running < runningEach) {
        this.#running++;
        line.running++;
        this.#leave(line).go();
      }
      if (line.waiting.length > 0) this.#ring.push(line);
    }
  }

  #leave(line: Line): Waiting {
    this.#waiting--;
    if (this.#waiting === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return line.waiting.shift()!;
  }

  /** Rejects the requests that have waited too long; they are at the front of every line. */
  #dismiss(): void {
    const late = performance.now() - this.#limits.patience;
    for (const [caller, line] of this.#lines) {
      while (line.waiting.length > 0 && line.waiting[0]!.since < late) this.#leave(line).giveUp();
      if (line.waiting.length > 0) continue;
      const at = this.#ring.indexOf(line);
      if (at >= 0) this.#ring.splice(at, 1);
      this.#forget(caller, line);
    }
  }
}
