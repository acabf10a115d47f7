import type { Facts } from './facts.ts';
import type { AssignmentFact, FetchedSlice, SliceKey, TupleFact, TupleKey } from './types.ts';

/** Bits of `nodes.known`: the slices A, U, P, S of a node. The same bits shifted by four: used since the last eviction pass. */
export const A = 1;
export const U = 2;
export const P = 4;
export const S = 8;
const USED = 4;
/** Stands for M in the queue of slices. The number with M is a row of the tuples; with the others it is a node. */
const M = 0;

/** Bytes of bookkeeping per slice: its place in the queue. */
const bytesPerSlice = 16;

/**
 * The parts of the facts that a partial model knows. Eviction approximates least recently used with the clock algorithm: slices
 * stand in a queue, and a slice used since its last inspection moves to the end instead of being evicted.
 */
export class Slices {
  readonly #facts: Facts;
  /** Pairs of bit and number, starting at `#front`. */
  #queue: number[] = [];
  #front = 0;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  get bytes(): number {
    return (this.#queue.length - this.#front) * (bytesPerSlice / 2);
  }

  isKnown(bit: number, node: number): boolean {
    const { known } = this.#facts.nodes;
    if (node < 0 || (known[node]! & bit) === 0) return false;
    known[node]! |= bit << USED;
    return true;
  }

  /** Whether the model knows if a plain subject is directly in an object set: from the pair's own slice, or from P or S. */
  isMemberKnown(object: number, subject: number): boolean {
    const { tuples } = this.#facts;
    const row = object < 0 || subject < 0 ? -1 : tuples.find(object, subject);
    if (row >= 0 && tuples.isMemberKnown(row)) {
      tuples.useMember(row);
      return true;
    }
    return this.isKnown(P, object) || this.isKnown(S, subject);
  }

  add({ key, tuples = [], assignments = [] }: FetchedSlice): void {
    for (const tuple of tuples) this.#facts.putTuple(tuple);
    for (const assignment of assignments) this.#facts.putAssignment(assignment);
    const { nodes } = this.#facts;
    switch (key.slice) {
      case 'A':
        return this.#know(A, nodes.hold(key.subject_kind, '', key.subject_id));
      case 'S':
        return this.#know(S, nodes.hold(key.subject_type, key.subject_relation, key.subject_id));
      case 'M':
        return this.#knowMember(key);
      default:
        return this.#know(
          key.slice === 'U' ? U : P,
          nodes.hold(key.object_type, key.relation, key.object_id),
        );
    }
  }

  /** Applies a tuple change if a known slice covers the tuple. */
  putTuple(tuple: TupleFact): void {
    if (this.#covers(tuple)) this.#facts.putTuple(tuple);
  }

  putAssignment(assignment: AssignmentFact): void {
    const subject = this.#facts.nodes.findNamed(assignment.subject_kind, '', assignment.subject_id);
    if (subject >= 0 && this.#facts.nodes.known[subject]! & A) this.#facts.putAssignment(assignment);
  }

  /** Evicts one slice. Returns false when none is left. */
  evictOne(): boolean {
    for (;;) {
      if (this.#front === this.#queue.length) return false;
      const [bit = 0, number = 0] = [this.#queue[this.#front], this.#queue[this.#front + 1]];
      this.#front += 2;
      if (this.#front > 65_536 && this.#front * 2 > this.#queue.length) {
        this.#queue = this.#queue.slice(this.#front);
        this.#front = 0;
      }
      if (this.#wasUsed(bit, number)) {
        this.#queue.push(bit, number);
      } else {
        this.#forget(bit, number);
        return true;
      }
    }
  }

  #know(bit: number, node: number): void {
    const { nodes } = this.#facts;
    if (nodes.known[node]! & bit) {
      nodes.release(node);
    } else {
      nodes.known[node]! |= bit | (bit << USED);
      this.#queue.push(bit, node);
    }
  }

  #knowMember(key: Omit<TupleKey, 'subject_relation'>): void {
    const { nodes, tuples } = this.#facts;
    const object = nodes.hold(key.object_type, key.relation, key.object_id);
    const subject = nodes.hold(key.subject_type, '', key.subject_id);
    const row = tuples.knowMember(object, subject);
    if (row !== undefined) this.#queue.push(M, row);
    nodes.release(object);
    nodes.release(subject);
  }

  #wasUsed(bit: number, number: number): boolean {
    const { nodes, tuples } = this.#facts;
    if (bit === M) return tuples.wasMemberUsed(number);
    const used = (nodes.known[number]! & (bit << USED)) !== 0;
    nodes.known[number]! &= ~(bit << USED);
    return used;
  }

  #forget(bit: number, number: number): void {
    const facts = this.#facts;
    const { nodes, tuples } = facts;
    if (bit === M) {
      tuples.forgetMember(number, !tuples.isAbsent(number) && this.#coversRow(number));
      return;
    }
    nodes.known[number]! &= ~bit;
    if (bit === A) {
      for (const row of facts.assignmentsOf(number)) facts.dropAssignment(row);
    } else {
      const rows =
        bit === S
          ? facts.containersOf(number)
          : bit === U
            ? facts.usersetsOf(number)
            : facts.membersOf(number);
      for (const row of rows) if (!tuples.isMemberKnown(row) && !this.#coversRow(row)) tuples.delete(row);
    }
    nodes.release(number);
  }

  /** Whether one of the slices U, P, S covers a stored tuple. */
  #coversRow(row: number): boolean {
    const { nodes, tuples } = this.#facts;
    const ofObject = nodes.known[tuples.left[row]!]! & (tuples.isWildcardOrUserset(row) ? U : P);
    return ofObject !== 0 || (nodes.known[tuples.right[row]!]! & S) !== 0;
  }

  #covers(key: TupleKey): boolean {
    const { nodes, tuples } = this.#facts;
    const object = nodes.findNamed(key.object_type, key.relation, key.object_id);
    const subject = nodes.findNamed(key.subject_type, key.subject_relation, key.subject_id);
    const ofObject = key.subject_relation !== '' || key.subject_id === '*' ? U : P;
    if (object >= 0 && nodes.known[object]! & ofObject) return true;
    if (subject >= 0 && nodes.known[subject]! & S) return true;
    return object >= 0 && subject >= 0 && tuples.find(object, subject) >= 0;
  }
}

/** Returns a unique text for each slice key. JSON keeps keys apart, since ids may contain any separator. */
export function sliceText(key: SliceKey): string {
  return JSON.stringify(Object.values(key));
}
