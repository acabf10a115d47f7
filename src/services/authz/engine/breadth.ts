import type { Value } from './fixpoint.ts';
import { Rewrites } from './rewrites.ts';
import type { Definition } from './schema.ts';
import { FALSE, NEW, TRUE, UNKNOWN, Visits } from './visits.ts';

/** How many times a node may be looked at while values settle, per visit that a check may make. */
const looksPerVisit = 8;
/** Number of looks that take as much time as meeting a node for the first time. */
const looksPerMeeting = 8;

/** A node of the graph below the object set that the question asks about. */
interface Found {
  readonly type: number;
  readonly relation: number;
  readonly id: number;
  readonly definition: Definition | null;
  /** Number of nodes on the shortest path from the object set in question, both ends included. */
  readonly depth: number;
  /** Entries of the nodes whose value depends on this one. */
  readonly dependents: number[];
}

/**
 * Gives the same answers as a depth-first search, but searches breadth-first: it finds every node within the depth limit on its
 * shortest path, so cycles and detours cost no depth. Values then settle from the bottom up: first everything that follows from
 * decided values; then every node that would not be true even if all undecided values favoured it is decided as false (the
 * well-founded model, which is the least fixpoint stratum by stratum); and so on until nothing changes.
 */
export class Breadth extends Rewrites {
  /** The state NEW means undecided. */
  readonly #visits = new Visits();
  readonly #found: Found[] = [];
  /** Nodes within the depth limit that were undecided at the last look. Undefined before the first look. */
  #open: readonly number[] | undefined;
  /** Whether an undecided node could be true. */
  #possible: Uint8Array | undefined;
  /** The array behind `#possible`, kept between two passes so that it is allocated once. */
  #supposition: Uint8Array | undefined;
  /** Counts the nesting of subtracted terms that are being evaluated. An even nesting counts as none. */
  #taking = 0;
  /** The node that is being evaluated. */
  #current = -1;
  #looks = 0;
  /** In the first pass, evaluating an undecided node meets everything it depends on: the evaluation does not stop early. */
  #discovering = true;
  /** The nodes to evaluate again, each once, since a node may have very many dependencies. The loop also reaches nodes added meanwhile. */
  readonly #queue = new Set<number>();

  evaluate(type: number, relation: number, id: number): Value {
    const { question } = this;
    const root = this.#enter(type, relation, id, 1);
    this.#discover();
    this.#discovering = false;
    while (!this.stopped && question.request.missingCount === 0) {
      this.#settle();
      if (this.stopped) break;
      const value = this.#visits.state[root];
      if (value === TRUE || value === FALSE) {
        this.proof = this.#visits.proof[root]!;
        return value;
      }
      if (!this.#refuteUnfounded()) break;
    }
    const { depth } = question.request.limits;
    if (!this.stopped) question.limit ??= this.#found.at(-1)!.depth > depth ? 'depth' : 'exclusion cycle';
    return UNKNOWN;
  }

  node(type: number, relation: number, id: number): Value {
    const { question } = this;
    const visits = this.#visits;
    const definitions = question.model.schema.type(type);
    if (definitions !== undefined && !definitions.has(relation)) return FALSE;
    const known = visits.size;
    const entry = visits.enter(type, relation, id);
    if (entry === known) {
      this.#looks += looksPerMeeting;
      this.#add(type, relation, id, this.#found[this.#current]!.depth + 1);
    }
    const state = visits.state[entry];
    if (!this.#look()) return UNKNOWN;
    if (state === TRUE) {
      this.proof = visits.proof[entry]!;
      return TRUE;
    }
    if (state === FALSE) return FALSE;
    if (this.#possible !== undefined)
      return this.#taking % 2 === 0 && this.#possible[entry] === 1 ? TRUE : FALSE;
    if (this.#discovering) this.#found[entry]!.dependents.push(this.#current);
    return UNKNOWN;
  }

  protected override enterExcluded(): number {
    return this.#taking++;
  }

  protected override leaveExcluded(taking: number): boolean {
    this.#taking = taking;
    return false;
  }

  #enter(type: number, relation: number, id: number, depth: number): number {
    const entry = this.#visits.enter(type, relation, id);
    this.#add(type, relation, id, depth);
    return entry;
  }

  #add(type: number, relation: number, id: number, depth: number): void {
    const definition = this.question.model.schema.type(type)?.get(relation) ?? null;
    this.#found.push({ type, relation, id, definition, depth, dependents: [] });
  }

  /** Evaluates every node within the depth limit once, near ones first. The loop also reaches the nodes that it adds itself. */
  #discover(): void {
    const { depth } = this.question.request.limits;
    for (let entry = 0; entry < this.#found.length; entry++) {
      if (this.stopped || this.#found[entry]!.depth > depth) return;
      if (!this.question.visit()) this.stopped = true;
      else this.#decide(entry, this.#evaluate(entry));
    }
  }

  #evaluate(entry: number): Value {
    const { definition, type, relation, id, depth } = this.#found[entry]!;
    this.#current = entry;
    return this.value(definition, type, relation, id, depth);
  }

  #decide(entry: number, value: Value): void {
    if (value === UNKNOWN || this.stopped) return;
    this.#visits.state[entry] = value;
    this.#visits.proof[entry] = value === TRUE ? this.proof : -1;
    const dependents = this.#found[entry]!.dependents.splice(0);
    for (const dependent of dependents) this.#queue.add(dependent);
  }

  /** Decides everything that follows from decided values. */
  #settle(): void {
    for (const entry of this.#queue) {
      if (this.stopped) return;
      this.#queue.delete(entry);
      if (this.#visits.state[entry] === NEW) this.#decide(entry, this.#evaluate(entry));
    }
  }

  /**
   * Decides as false every node that no undecided value could make true. Returns whether there was one. A graph may need this
   * once per node, so each pass costs only as much as is undecided, and every node it passes counts as a look.
   */
  #refuteUnfounded(): boolean {
    const open = this.#stillOpen();
    const possible = (this.#possible = this.#supposed(open));
    const queue = new Set(open);
    for (const entry of queue) {
      if (!this.#look()) break;
      queue.delete(entry);
      if (possible[entry] === 1 || this.#evaluate(entry) === FALSE) continue;
      possible[entry] = 1;
      for (const dependent of this.#found[entry]!.dependents) {
        if (!this.#look()) break;
        if (this.#isOpen(dependent)) queue.add(dependent);
      }
    }
    this.#possible = undefined;
    if (this.stopped) return false;
    const unfounded = open.filter((entry) => possible[entry] === 0);
    for (const entry of unfounded) this.#decide(entry, FALSE);
    return unfounded.length > 0;
  }

  #isOpen(entry: number): boolean {
    const { depth } = this.question.request.limits;
    return this.#visits.state[entry] === NEW && this.#found[entry]!.depth <= depth;
  }

  #stillOpen(): readonly number[] {
    const before = this.#open ?? this.#found.map((_, entry) => entry);
    return (this.#open = before.filter((entry) => this.#isOpen(entry)));
  }

  /** What could be true before anything follows: everything beyond the depth limit, and none of the open nodes yet. */
  #supposed(open: readonly number[]): Uint8Array {
    const { depth } = this.question.request.limits;
    const supposed = (this.#supposition ??= Uint8Array.from(this.#found, (found) =>
      found.depth > depth ? 1 : 0,
    ));
    for (const entry of open) supposed[entry] = 0;
    return supposed;
  }

  /** Counts a look at a node. Returns false when there have been too many. */
  #look(): boolean {
    if (++this.#looks <= this.question.request.limits.visits * looksPerVisit) return true;
    this.question.limit = 'visits';
    this.stopped = true;
    return false;
  }
}
