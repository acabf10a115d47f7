import { grown } from './columns.ts';
import { FactTable } from './fact-table.ts';
import type { Nodes } from './nodes.ts';

/** Not a tuple: the row says only that the slice M of its pair was read and is empty. */
const ABSENT = 1;
/** The slice M of the pair is known (partial mode). */
const KNOWN = 2;
/** The slice M was used since the last eviction pass. */
const USED = 4;

export class TupleTable extends FactTable {
  #flags: Uint8Array = new Uint8Array(1_024);
  readonly #nodes: Nodes;

  constructor(nodes: Nodes) {
    super('rel');
    this.#nodes = nodes;
  }

  /** Returns the row of a tuple, or -1 when there is none. An expired tuple still has its row. */
  tuple(object: number, subject: number): number {
    const row = this.find(object, subject);
    return row < 0 || this.#flags[row]! & ABSENT ? -1 : row;
  }

  /** Adds or overwrites the tuple of a pair of nodes. */
  put(object: number, subject: number, id: string, expires: number): number {
    let row = this.find(object, subject);
    if (row < 0) {
      row = this.#add(object, subject);
      this.#link(row);
    } else if (this.#flags[row]! & ABSENT) {
      this.#flags[row]! &= ~ABSENT;
      this.#link(row);
    }
    this.ids.set(row, id);
    this.expires[row] = expires;
    return row;
  }

  /** Removes a tuple. The slice M of the pair stays known. */
  delete(row: number): void {
    this.#unlink(row);
    if (this.#flags[row]! & KNOWN) this.#flags[row]! |= ABSENT;
    else this.#drop(row);
  }

  isWildcardOrUserset(row: number): boolean {
    const subject = this.right[row]!;
    return this.#nodes.relationOf(subject) !== '' || this.#nodes.idOf(subject) === '*';
  }

  isAbsent = (row: number) => (this.#flags[row]! & ABSENT) !== 0;
  isMemberKnown = (row: number) => (this.#flags[row]! & KNOWN) !== 0;

  /** Marks the slice M of a pair as known, whether or not there is a tuple. Returns its row, or undefined when it was already known. */
  knowMember(object: number, subject: number): number | undefined {
    let row = this.find(object, subject);
    if (row < 0) {
      row = this.#add(object, subject);
      this.#flags[row] = ABSENT;
      this.expires[row] = -Infinity;
    } else if (this.#flags[row]! & KNOWN) {
      return undefined;
    }
    this.#flags[row]! |= KNOWN | USED;
    return row;
  }

  useMember(row: number): void {
    this.#flags[row]! |= USED;
  }

  /** Whether the slice M of the row was used since the last call. */
  wasMemberUsed(row: number): boolean {
    const used = (this.#flags[row]! & USED) !== 0;
    this.#flags[row]! &= ~USED;
    return used;
  }

  /** Forgets that the slice M of the row is known. The tuple itself stays if another slice covers it. */
  forgetMember(row: number, covered: boolean): void {
    this.#flags[row]! &= ~(KNOWN | USED);
    if (this.#flags[row]! & ABSENT) this.#drop(row);
    else if (!covered) this.delete(row);
  }

  #add(object: number, subject: number): number {
    const row = this.allocate(object, subject);
    this.#flags[row] = 0;
    this.#nodes.holdAgain(object);
    this.#nodes.holdAgain(subject);
    this.insert(row);
    return row;
  }

  #drop(row: number): void {
    const [object, subject] = [this.left[row]!, this.right[row]!];
    this.remove(row);
    this.free(row);
    this.#nodes.release(object);
    this.#nodes.release(subject);
  }

  #link(row: number): void {
    const nodes = this.#nodes;
    this.byLeft.append(this.isWildcardOrUserset(row) ? nodes.usersets : nodes.members, this.left[row]!, row);
    this.byRight.append(nodes.containers, this.right[row]!, row);
  }

  #unlink(row: number): void {
    const nodes = this.#nodes;
    this.byLeft.unlink(this.isWildcardOrUserset(row) ? nodes.usersets : nodes.members, this.left[row]!, row);
    this.byRight.unlink(nodes.containers, this.right[row]!, row);
  }

  protected override grow(): void {
    super.grow();
    this.#flags = grown(this.#flags, (length) => new Uint8Array(length));
  }
}
