import { grown, HashIndex, int32, mix } from './columns.ts';
import type { Strings } from './strings.ts';

/**
 * The nodes of the relation graph. A node is an object set `type:id#relation`, or with the relation `''` a plain subject or
 * resource `type:id` (id `*`: the wildcard). Subjects and scopes of assignments are plain nodes too. A node lives as long as a
 * fact or a known slice holds it.
 */
export class Nodes extends HashIndex {
  type: Int32Array = new Int32Array(1_024);
  relation: Int32Array = new Int32Array(1_024);
  id: Int32Array = new Int32Array(1_024);
  /** Heads of the lists of tuples whose object is the node: one for userset and wildcard subjects, one for plain subjects. */
  usersets: Int32Array = new Int32Array(1_024).fill(-1);
  members: Int32Array = new Int32Array(1_024).fill(-1);
  /** Head of the list of tuples whose subject is the node. */
  containers: Int32Array = new Int32Array(1_024).fill(-1);
  /** Head of the list of assignments whose subject is the node. */
  grants: Int32Array = new Int32Array(1_024).fill(-1);
  /** Known slices of the node (partial mode), as bits of `slices.ts`. The high half of each byte records their use. */
  known: Uint8Array = new Uint8Array(1_024);
  #holders: Int32Array = new Int32Array(1_024);
  readonly #free: number[] = [];
  readonly #strings: Strings;
  /** One more than the highest node number ever used. Freed nodes below it have type -1. */
  length = 0;
  live = 0;

  constructor(strings: Strings) {
    super();
    this.#strings = strings;
  }

  /** Returns the node, or -1 when no fact or slice refers to it. A part that is itself unknown is passed as -1. */
  find(type: number, relation: number, id: number): number {
    const { slots, mask } = this;
    for (let slot = mix(type, relation, id) & mask; ; slot = (slot + 1) & mask) {
      const node = slots[slot]!;
      if (node < 0 || (this.id[node] === id && this.type[node] === type && this.relation[node] === relation))
        return node;
    }
  }

  findNamed(type: string, relation: string, id: string): number {
    return this.find(this.#strings.find(type), this.#strings.find(relation), this.#strings.find(id));
  }

  /** Returns the node with one more holder. Pair each call with `release`. */
  hold(type: string, relation: string, id: string): number {
    const strings = this.#strings;
    const typeNumber = strings.internName(type);
    const relationNumber = strings.internName(relation);
    const idNumber = strings.intern(id);
    let node = this.find(typeNumber, relationNumber, idNumber);
    // An existing node already holds its texts.
    if (node < 0) node = this.#create(typeNumber, relationNumber, idNumber);
    this.#holders[node]!++;
    return node;
  }

  holdAgain(node: number): void {
    this.#holders[node]!++;
  }

  release(node: number): void {
    if (--this.#holders[node]! > 0) return;
    this.remove(node);
    this.#strings.release(this.type[node]!);
    this.#strings.release(this.relation[node]!);
    this.#strings.release(this.id[node]!);
    this.type[node] = -1;
    this.#free.push(node);
    this.live--;
  }

  /** Formats a node as `type:id#relation` or `type:id`. */
  text(node: number): string {
    const text = `${this.typeOf(node)}:${this.idOf(node)}`;
    const relation = this.relationOf(node);
    return relation === '' ? text : `${text}#${relation}`;
  }

  typeOf = (node: number) => this.#strings.text(this.type[node]!);
  relationOf = (node: number) => this.#strings.text(this.relation[node]!);
  idOf = (node: number) => this.#strings.text(this.id[node]!);

  protected override hashOf(node: number): number {
    return mix(this.type[node]!, this.relation[node]!, this.id[node]!);
  }

  #create(type: number, relation: number, id: number): number {
    const node = this.#free.pop() ?? this.length++;
    if (node >= this.type.length) this.#grow();
    this.type[node] = type;
    this.relation[node] = relation;
    this.id[node] = id;
    this.#strings.holdAgain(type);
    this.#strings.holdAgain(relation);
    this.#strings.holdAgain(id);
    this.live++;
    this.insert(node);
    return node;
  }

  #grow(): void {
    const from = this.type.length;
    this.type = grown(this.type, int32);
    this.relation = grown(this.relation, int32);
    this.id = grown(this.id, int32);
    this.usersets = grown(this.usersets, int32).fill(-1, from);
    this.members = grown(this.members, int32).fill(-1, from);
    this.containers = grown(this.containers, int32).fill(-1, from);
    this.grants = grown(this.grants, int32).fill(-1, from);
    this.known = grown(this.known, (length) => new Uint8Array(length));
    this.#holders = grown(this.#holders, int32);
  }
}
