import { grown, int32 } from './columns.ts';
import { FactTable } from './fact-table.ts';
import type { Nodes } from './nodes.ts';

/**
 * Assignments by (subject, scope). The index holds one row per pair: the head of the pair's list. The list is ordered by id,
 * which is the order in which roles are considered.
 */
export class AssignmentTable extends FactTable {
  /** The role id, as a number in `Strings`. */
  role: Int32Array = new Int32Array(1_024);
  readonly #nodes: Nodes;

  constructor(nodes: Nodes) {
    super('asgn');
    this.#nodes = nodes;
  }

  /** Adds an assignment. Returns whether it replaced one with the same subject, scope and role (an expired one, or the same one). */
  put(subject: number, scope: number, role: number, id: string, expires: number): boolean {
    const twin = this.#twin(subject, scope, role);
    if (twin >= 0) this.delete(twin);
    const row = this.allocate(subject, scope);
    this.role[row] = role;
    this.expires[row] = expires;
    this.ids.set(row, id);
    this.#nodes.holdAgain(subject);
    this.#nodes.holdAgain(scope);
    this.byLeft.append(this.#nodes.grants, subject, row);
    this.#linkInOrder(row, this.find(subject, scope));
    return twin >= 0;
  }

  delete(row: number): void {
    const [subject, scope] = [this.left[row]!, this.right[row]!];
    const head = this.find(subject, scope);
    this.byLeft.unlink(this.#nodes.grants, subject, row);
    if (head !== row) {
      this.byRight.cut(row);
    } else if (this.byRight.next[row] === row) {
      this.remove(row);
    } else {
      this.substitute(row, this.byRight.cut(row));
    }
    this.free(row);
    this.#nodes.release(subject);
    this.#nodes.release(scope);
  }

  #twin(subject: number, scope: number, role: number): number {
    const head = this.find(subject, scope);
    if (head < 0) return -1;
    let row = head;
    do {
      if (this.role[row] === role) return row;
      row = this.byRight.next[row]!;
    } while (row !== head);
    return -1;
  }

  /** Searches from the end: ids grow with time, so a new row nearly always belongs there. */
  #linkInOrder(row: number, head: number): void {
    if (head < 0) {
      this.byRight.alone(row);
      this.insert(row);
      return;
    }
    let after = this.byRight.prev[head]!;
    while (after !== head && this.ids.precedes(row, after)) after = this.byRight.prev[after]!;
    if (after === head && this.ids.precedes(row, head)) {
      this.byRight.before(head, row);
      this.substitute(head, row);
    } else {
      this.byRight.before(this.byRight.next[after]!, row);
    }
  }

  protected override grow(): void {
    super.grow();
    this.role = grown(this.role, int32);
  }
}
