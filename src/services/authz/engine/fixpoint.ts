import {
  ACTIVE,
  FALSE,
  NEW,
  PROVISIONAL_FALSE,
  PROVISIONAL_UNKNOWN,
  TRUE,
  UNKNOWN,
  Visits,
} from './visits.ts';

/** `TRUE`, `FALSE`, or `UNKNOWN` when a slice is missing or a limit was reached. */
export type Value = typeof TRUE | typeof FALSE | typeof UNKNOWN;

/** A depth that is smaller than all: from nowhere would another evaluation help. */
const nowhere = 0;

/** The value relies on no node of the current path. */
export const reliesOnNothing = 0x7fffffff;

/**
 * The least fixpoint of a depth-first evaluation. A node met again on its own path counts as false there. A false or unknown
 * value that relied on such a node is provisional until the node is decided: it is kept when the node is false, and forgotten
 * when it is true. A depth stands for the node that is active at that depth.
 */
export class Fixpoint {
  readonly visits: Visits;
  /** The smallest depth that values have relied on since the enclosing node began. */
  low = reliesOnNothing;
  /** Whether any value relied on the active node at a depth. */
  readonly #relied: boolean[] = [];
  /** Entries with a provisional value, oldest first. */
  readonly #pending: number[] = [];

  constructor(visits: Visits) {
    this.visits = visits;
  }

  /** The number of provisional values when a node begins, which `finish` needs. */
  get mark(): number {
    return this.#pending.length;
  }

  begin(entry: number, depth: number): void {
    this.visits.state[entry] = ACTIVE;
    this.visits.depth[entry] = depth;
    this.#relied[depth] = false;
    this.low = reliesOnNothing;
  }

  /** Returns the value of a node met before, or undefined when it has to be evaluated (again). */
  met(entry: number, depth: number): Value | undefined {
    const visits = this.visits;
    switch (visits.state[entry]) {
      case TRUE:
        return TRUE;
      case FALSE:
        return FALSE;
      case UNKNOWN:
        // A limit reached further down may not be reached from here.
        return depth < visits.depth[entry]! ? undefined : UNKNOWN;
      case ACTIVE:
        this.#relied[visits.depth[entry]!] = true;
        this.rely(visits.depth[entry]!);
        return FALSE;
      case PROVISIONAL_FALSE:
        this.rely(visits.depth[entry]!);
        return FALSE;
      case PROVISIONAL_UNKNOWN:
        this.rely(visits.depth[entry]!);
        return UNKNOWN;
      default:
        return undefined;
    }
  }

  rely(depth: number): void {
    if (depth < this.low) this.low = depth;
  }

  /** Ends a node. `mark` and `outer` are the values of `mark` and `low` before it began; `proof` is the row that made it true. */
  finish(entry: number, value: Value, depth: number, mark: number, outer: number, proof: number): Value {
    const visits = this.visits;
    const low = this.low;
    this.low = outer;
    if (value === TRUE) {
      visits.state[entry] = TRUE;
      visits.proof[entry] = proof;
      if (this.#relied[depth]) {
        for (const pending of this.#pending.splice(mark)) visits.state[pending] = NEW;
      }
    } else if (low >= depth) {
      visits.state[entry] = value;
      if (this.#pending.length > mark) this.#settle(mark, depth, value);
    } else {
      visits.state[entry] = value === FALSE ? PROVISIONAL_FALSE : PROVISIONAL_UNKNOWN;
      visits.depth[entry] = low;
      if (this.#relied[depth]) {
        for (let at = mark; at < this.#pending.length; at++) {
          const pending = this.#pending[at]!;
          if (visits.depth[pending]! > low) visits.depth[pending] = low;
          if (value === UNKNOWN) visits.state[pending] = PROVISIONAL_UNKNOWN;
        }
      }
      this.#pending.push(entry);
      this.rely(low);
    }
    return value;
  }

  /**
   * The node relies on nothing outside and was not true, so the values that relied on it, and on nothing further out, are decided. What
   * was false because the node counted as false is unknown when the node is.
   */
  #settle(mark: number, depth: number, value: Value): void {
    const visits = this.visits;
    let kept = mark;
    for (let at = mark; at < this.#pending.length; at++) {
      const pending = this.#pending[at]!;
      if (visits.depth[pending]! < depth) {
        this.#pending[kept++] = pending;
      } else if (visits.state[pending] === PROVISIONAL_FALSE) {
        visits.state[pending] = value;
        visits.depth[pending] = nowhere;
      } else {
        // The depth at which it met the limit is not stored: once forgotten, it is evaluated again wherever that can help.
        visits.state[pending] = NEW;
      }
    }
    this.#pending.length = kept;
  }
}
