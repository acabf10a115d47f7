/**
 * The building blocks of the fact tables. A fact is a row number into typed arrays, not an object: it has no header and no
 * pointers for the garbage collector to follow, and takes ~60 bytes. Indexes within a table's own bounds are asserted (`!`).
 */

/** Returns a copy that is half as large again: less slack than doubling when millions of facts are held. */
export function grown<T extends Int32Array | Uint32Array | Uint8Array | Float64Array>(
  array: T,
  make: (n: number) => T,
): T {
  const copy = make(Math.ceil(array.length * 1.5));
  copy.set(array);
  return copy;
}

export const int32 = (length: number) => new Int32Array(length);

/** Spreads up to three small integers over 32 bits. */
export function mix(a: number, b: number, c: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** An open-addressing hash index of row numbers; the keys stay in the columns of the table that extends it. */
export abstract class HashIndex {
  protected slots: Int32Array = new Int32Array(1_024).fill(-1);
  protected mask = 1_023;
  #used = 0;

  protected abstract hashOf(row: number): number;

  protected insert(row: number): void {
    if (++this.#used * 10 > this.slots.length * 7) this.#rehash();
    this.#place(row);
  }

  protected remove(row: number): void {
    const { slots, mask } = this;
    let hole = this.slotOf(row);
    this.#used--;
    // Backward shift: later rows of the run move into the hole unless that would put them before their home.
    for (let slot = (hole + 1) & mask; slots[slot]! >= 0; slot = (slot + 1) & mask) {
      const home = this.hashOf(slots[slot]!) & mask;
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        slots[hole] = slots[slot]!;
        hole = slot;
      }
    }
    slots[hole] = -1;
  }

  /** Replaces a row with another row of the same key. */
  protected substitute(row: number, replacement: number): void {
    this.slots[this.slotOf(row)] = replacement;
  }

  protected slotOf(row: number): number {
    let slot = this.hashOf(row) & this.mask;
    while (this.slots[slot] !== row) slot = (slot + 1) & this.mask;
    return slot;
  }

  #place(row: number): void {
    let slot = this.hashOf(row) & this.mask;
    while (this.slots[slot]! >= 0) slot = (slot + 1) & this.mask;
    this.slots[slot] = row;
  }

  #rehash(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2).fill(-1);
    this.mask = this.slots.length - 1;
    for (const row of old) if (row >= 0) this.#place(row);
  }
}

/** Circular doubly linked lists of rows. The owner of the lists keeps their heads (-1: empty) in a column. */
export class Links {
  next = new Int32Array(1_024);
  prev = new Int32Array(1_024);

  resize(length: number): void {
    const [next, prev] = [new Int32Array(length), new Int32Array(length)];
    next.set(this.next);
    prev.set(this.prev);
    this.next = next;
    this.prev = prev;
  }

  append(heads: Int32Array, at: number, row: number): void {
    const head = heads[at]!;
    if (head < 0) {
      heads[at] = row;
      this.alone(row);
    } else {
      this.before(head, row);
    }
  }

  alone(row: number): void {
    this.next[row] = row;
    this.prev[row] = row;
  }

  /** Links a row in before another. Before the head means at the end. */
  before(other: number, row: number): void {
    const last = this.prev[other]!;
    this.next[last] = row;
    this.prev[row] = last;
    this.next[row] = other;
    this.prev[other] = row;
  }

  unlink(heads: Int32Array, at: number, row: number): void {
    const next = this.cut(row);
    if (heads[at] === row) heads[at] = next;
  }

  /** Unlinks a row. Returns the row after it, or -1 when it was the only one. */
  cut(row: number): number {
    const [next, prev] = [this.next[row]!, this.prev[row]!];
    this.next[prev] = next;
    this.prev[next] = prev;
    return next === row ? -1 : next;
  }
}
