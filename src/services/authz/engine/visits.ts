import { grown, int32, mix } from './columns.ts';

export const NEW = 0;
/** The node is on the current path. */
export const ACTIVE = 1;
export const TRUE = 2;
export const FALSE = 3;
/** No answer in this pass: a slice is missing, or a limit was reached at this depth or a smaller one. */
export const UNKNOWN = 4;
/** False or unknown as long as a node on the current path is not true. */
export const PROVISIONAL_FALSE = 5;
export const PROVISIONAL_UNKNOWN = 6;

/**
 * What one evaluation knows about the nodes it has met. One table serves the whole process: evaluations are synchronous and
 * never overlap. The cost of clearing the table is proportional to the nodes met.
 */
export class Visits {
  state: Uint8Array = new Uint8Array(256);
  /** The depth at which the node is active, or was when it became unknown. For a provisional node, the depth it relies on. */
  depth: Int32Array = new Int32Array(256);
  /** The tuple row that made the node true, or -1. */
  proof: Int32Array = new Int32Array(256);
  #type: Int32Array = new Int32Array(256);
  #relation: Int32Array = new Int32Array(256);
  #id: Int32Array = new Int32Array(256);
  #slots: Int32Array = new Int32Array(512).fill(-1);
  #length = 0;

  /** Returns the entry of a node. A node not met before gets an entry in state NEW. */
  enter(type: number, relation: number, id: number): number {
    const mask = this.#slots.length - 1;
    let slot = mix(type, relation, id) & mask;
    for (let entry = this.#slots[slot]!; entry >= 0; entry = this.#slots[slot]!) {
      if (this.#id[entry] === id && this.#type[entry] === type && this.#relation[entry] === relation)
        return entry;
      slot = (slot + 1) & mask;
    }
    const entry = this.#length++;
    if (entry === this.state.length) this.#grow();
    this.state[entry] = NEW;
    this.proof[entry] = -1;
    this.#type[entry] = type;
    this.#relation[entry] = relation;
    this.#id[entry] = id;
    if (this.#length * 2 > this.#slots.length) this.#rehash();
    else this.#slots[slot] = entry;
    return entry;
  }

  get size(): number {
    return this.#length;
  }

  reset(): void {
    if (this.#length * 8 > this.#slots.length) this.#slots.fill(-1);
    else for (let entry = 0; entry < this.#length; entry++) this.#slots[this.#slotOf(entry)] = -1;
    this.#length = 0;
  }

  #slotOf(entry: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#home(entry, mask);
    while (this.#slots[slot] !== entry) slot = (slot + 1) & mask;
    return slot;
  }

  #home(entry: number, mask: number): number {
    return mix(this.#type[entry]!, this.#relation[entry]!, this.#id[entry]!) & mask;
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1);
    const mask = this.#slots.length - 1;
    for (let entry = 0; entry < this.#length; entry++) {
      let slot = this.#home(entry, mask);
      while (this.#slots[slot]! >= 0) slot = (slot + 1) & mask;
      this.#slots[slot] = entry;
    }
  }

  #grow(): void {
    this.state = grown(this.state, (length) => new Uint8Array(length));
    this.depth = grown(this.depth, int32);
    this.proof = grown(this.proof, int32);
    this.#type = grown(this.#type, int32);
    this.#relation = grown(this.#relation, int32);
    this.#id = grown(this.#id, int32);
  }
}
