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

/** `TRUE`, `FALSE`, or `UNKNOWN`: a slice is missing or a limit was met. */
export type Value = typeof TRUE | typeof FALSE | typeof UNKNOWN;

/** Relies on no node of the current path. */
export const NOTHING = 0x7fffffff;

/**
 * The least fixpoint of a depth-first evaluation. A node met again on its own path counts as false there. A false (or
 * unknown) that relied on that is provisional until the node it relied on is decided: kept when that is false, forgotten
 * when it is true. A depth stands for the node that is active at it.
 */
export class Fixpoint {
  readonly visits: Visits;
  /** Smallest depth that the values since the enclosing node began relied on. */
  low = NOTHING;
  /** Whether the active node of a depth was relied on. */
  readonly #relied: boolean[] = [];
  /** Entries whose value is provisional, oldest first. */
  readonly #pending: number[] = [];

  constructor(visits: Visits) {
    this.visits = visits;
  }

  /** How many values are provisional: what `finish` needs to know of the time when a node began. */
  get mark(): number {
    return this.#pending.length;
  }

  begin(entry: number, depth: number): void {
    this.visits.state[entry] = ACTIVE;
    this.visits.depth[entry] = depth;
    this.#relied[depth] = false;
    this.low = NOTHING;
  }

  /** The value of a node met before, undefined when it has to be found (again). */
  met(entry: number, depth: number): Value | undefined {
    const visits = this.visits;
    switch (visits.state[entry]) {
      case TRUE:
        return TRUE;
      case FALSE:
        return FALSE;
      case UNKNOWN:
        // A limit met deeper down may not be met from here.
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

  /** Ends a node: `mark` and `outer` are the mark and the low from before it began, `proof` the row that made it true. */
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
      if (this.#pending.length > mark) this.#settle(mark, depth);
    } else {
      visits.state[entry] = value === FALSE ? PROVISIONAL_FALSE : PROVISIONAL_UNKNOWN;
      visits.depth[entry] = low;
      if (this.#relied[depth]) {
        for (let at = mark; at < this.#pending.length; at++) {
          const pending = this.#pending[at]!;
          if (visits.depth[pending]! > low) visits.depth[pending] = low;
        }
      }
      this.#pending.push(entry);
      this.rely(low);
    }
    return value;
  }

  /** A node that relies on nothing outside was not true: what relied on it, and on nothing further out, is decided. */
  #settle(mark: number, depth: number): void {
    const visits = this.visits;
    let kept = mark;
    for (let at = mark; at < this.#pending.length; at++) {
      const pending = this.#pending[at]!;
      if (visits.depth[pending]! < depth) {
        this.#pending[kept++] = pending;
      } else if (visits.state[pending] === PROVISIONAL_FALSE) {
        visits.state[pending] = FALSE;
      } else {
        // At which depth it was met is not kept: forgotten, it is found again wherever that can help.
        visits.state[pending] = NEW;
      }
    }
    this.#pending.length = kept;
  }
}
