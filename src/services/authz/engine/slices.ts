import type { Facts } from './facts.ts';
import type { AssignmentFact, FetchedSlice, SliceKey, TupleFact, TupleKey } from './types.ts';

/** Bits of `nodes.known`: the slices A, U, P, S of a node. Four bits higher: used since the eviction last came by. */
export const A = 1;
export const U = 2;
export const P = 4;
export const S = 8;
const USED = 4;
/** In the queue of slices, stands for M; its number is a row of the tuples, the others' is a node. */
const M = 0;

/** Bytes of the bookkeeping of one slice: its place in the queue. */
const SLICE_BYTES = 16;

/**
 * Which parts of the facts a partial model knows. Eviction takes the least recently used first, as a clock does: slices
 * stand in a queue, one that was used since it was last looked at goes to the end instead of going away.
 */
export class Slices {
  readonly #facts: Facts;
  /** Pairs of bit and number, from `#front` on. */
  #queue: number[] = [];
  #front = 0;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  get bytes(): number {
    return (this.#queue.length - this.#front) * (SLICE_BYTES / 2);
  }

  isKnown(bit: number, node: number): boolean {
    const { known } = this.#facts.nodes;
    if (node < 0 || (known[node]! & bit) === 0) return false;
    known[node]! |= bit << USED;
    return true;
  }

  /** Whether it is known if a plain subject is directly in an object set: by the pair's own slice, or by P or S. */
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

  /** A change to a tuple concerns this model when a known slice covers it. */
  putTuple(tuple: TupleFact): void {
    if (this.#covers(tuple)) this.#facts.putTuple(tuple);
  }

  putAssignment(assignment: AssignmentFact): void {
    const subject = this.#facts.nodes.findNamed(assignment.subject_kind, '', assignment.subject_id);
    if (subject >= 0 && this.#facts.nodes.known[subject]! & A) this.#facts.putAssignment(assignment);
  }

  /** Evicts one slice. False when there is none left. */
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

  /** Whether one of the slices U, P, S covers a tuple that is held. */
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

/** A text for each slice; two keys have the same one only if they are the same (ids may contain any separator). */
export function sliceText(key: SliceKey): string {
  return JSON.stringify(Object.values(key));
}
