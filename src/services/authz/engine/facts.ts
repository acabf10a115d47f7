import { AssignmentTable } from './assignment-table.ts';
import { expiryOf } from './fact-table.ts';
import { Nodes } from './nodes.ts';
import { Strings } from './strings.ts';
import { TupleTable } from './tuple-table.ts';
import type { AssignmentFact, TupleFact, TupleKey } from './types.ts';

/** Bytes of a node and of a row, including their share of the indexes and of the slack from growth. */
const bytesPerNode = 64;
const bytesPerRow = 84;

/** The facts of a tenant that this process holds: all of them (full mode) or those of the known slices (partial). */
export class Facts {
  readonly strings = new Strings();
  readonly nodes = new Nodes(this.strings);
  readonly tuples = new TupleTable(this.nodes);
  readonly assignments = new AssignmentTable(this.nodes);
  /** Numbers of the texts with a special meaning, which are never released. */
  readonly none = this.strings.hold('');
  readonly any = this.strings.hold('*');
  /** The scope of an assignment that applies to everything. */
  readonly everything = this.nodes.hold('', '', '');

  get bytes(): number {
    return this.strings.bytes + this.nodes.live * bytesPerNode + this.count * bytesPerRow;
  }

  get count(): number {
    return this.tuples.live + this.assignments.live;
  }

  putTuple(tuple: TupleFact): void {
    const { nodes } = this;
    const object = nodes.hold(tuple.object_type, tuple.relation, tuple.object_id);
    const subject = nodes.hold(tuple.subject_type, tuple.subject_relation, tuple.subject_id);
    this.tuples.put(object, subject, tuple.id, expiryOf(tuple.expires_at));
    nodes.release(object);
    nodes.release(subject);
  }

  deleteTuple(key: TupleKey): void {
    const row = this.findTuple(key);
    if (row >= 0) this.tuples.delete(row);
  }

  findTuple(key: TupleKey): number {
    const object = this.nodes.findNamed(key.object_type, key.relation, key.object_id);
    const subject = this.nodes.findNamed(key.subject_type, key.subject_relation, key.subject_id);
    return this.tuples.tuple(object, subject);
  }

  putAssignment(assignment: AssignmentFact): void {
    const { nodes, strings } = this;
    const subject = nodes.hold(assignment.subject_kind, '', assignment.subject_id);
    const scope = this.#holdScope(assignment.resource_type, assignment.resource_id);
    const role = strings.hold(assignment.role_id);
    const replaced = this.assignments.put(
      subject,
      scope,
      role,
      assignment.id,
      expiryOf(assignment.expires_at),
    );
    if (replaced) strings.release(role);
    nodes.release(subject);
    nodes.release(scope);
  }

  deleteAssignment({
    id,
    subject_kind,
    subject_id,
  }: Pick<AssignmentFact, 'id' | 'subject_kind' | 'subject_id'>): void {
    const subject = this.nodes.findNamed(subject_kind, '', subject_id);
    if (subject < 0) return;
    for (const row of this.assignmentsOf(subject)) {
      if (this.assignments.ids.get(row) === id) {
        this.dropAssignment(row);
        return;
      }
    }
  }

  dropAssignment(row: number): void {
    const role = this.assignments.role[row] ?? -1;
    this.assignments.delete(row);
    this.strings.release(role);
  }

  /** Returns the rows of a subject's assignments at the time of the call, including expired ones. */
  assignmentsOf(subject: number): number[] {
    return rowsOf(this.nodes.grants, subject, this.assignments.byLeft.next);
  }

  usersetsOf = (object: number) => rowsOf(this.nodes.usersets, object, this.tuples.byLeft.next);
  membersOf = (object: number) => rowsOf(this.nodes.members, object, this.tuples.byLeft.next);
  containersOf = (subject: number) => rowsOf(this.nodes.containers, subject, this.tuples.byRight.next);

  /** Returns the six members of a tuple's key. */
  keyOf(row: number): TupleKey {
    const { nodes } = this;
    const [object, subject] = [this.tuples.left[row] ?? -1, this.tuples.right[row] ?? -1];
    return {
      object_type: nodes.typeOf(object),
      object_id: nodes.idOf(object),
      relation: nodes.relationOf(object),
      subject_type: nodes.typeOf(subject),
      subject_id: nodes.idOf(subject),
      subject_relation: nodes.relationOf(subject),
    };
  }

  /** Formats a tuple as `document:readme#viewer@group:eng#member`. */
  tupleText(row: number): string {
    return `${this.nodes.text(this.tuples.left[row] ?? -1)}@${this.nodes.text(this.tuples.right[row] ?? -1)}`;
  }

  /** Removes facts that expired before `now` from memory: the database sweep raises no revision and logs no change. */
  dropExpired(now: number): void {
    const { tuples, assignments } = this;
    for (let row = 0; row < tuples.length; row++) {
      if (tuples.left[row]! >= 0 && tuples.expires[row]! <= now && !tuples.isAbsent(row)) tuples.delete(row);
    }
    for (let row = 0; row < assignments.length; row++) {
      if (assignments.left[row]! >= 0 && assignments.expires[row]! <= now) this.dropAssignment(row);
    }
  }

  #holdScope(type: string | null, id: string | null): number {
    if (type !== null) return this.nodes.hold(type, '', id ?? '*');
    this.nodes.holdAgain(this.everything);
    return this.everything;
  }
}

function rowsOf(heads: Int32Array, node: number, next: Int32Array): number[] {
  const rows: number[] = [];
  const head = heads[node] ?? -1;
  if (head < 0) return rows;
  let row = head;
  do {
    rows.push(row);
    row = next[row]!;
  } while (row !== head);
  return rows;
}
