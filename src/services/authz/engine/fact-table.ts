import { grown, HashIndex, int32, Links, mix } from './columns.ts';
import { PackedIds } from './packed-ids.ts';

/** What tuples and assignments have in common: a pair of nodes, an expiry, a record id, and two lists that link the rows. */
export abstract class FactTable extends HashIndex {
  /** The object set of a tuple, or the subject of an assignment. */
  left: Int32Array = new Int32Array(1_024);
  /** The subject of a tuple, or the scope of an assignment. */
  right: Int32Array = new Int32Array(1_024);
  /** Milliseconds since the epoch; `Infinity` for never. */
  expires: Float64Array = new Float64Array(1_024);
  /** The rows that share `left`. */
  readonly byLeft = new Links();
  /** Tuples: the rows that share `right`. Assignments: the rows that share the pair. */
  readonly byRight = new Links();
  readonly ids: PackedIds;
  /** One more than the highest row ever used. Freed rows below it have -1 in `left`. */
  length = 0;
  live = 0;
  readonly #free: number[] = [];

  constructor(prefix: string) {
    super();
    this.ids = new PackedIds(prefix);
  }

  /** Returns a row of the pair, or -1. */
  find(left: number, right: number): number {
    const { slots, mask } = this;
    for (let slot = mix(left, right, 0) & mask; ; slot = (slot + 1) & mask) {
      const row = slots[slot]!;
      if (row < 0 || (this.left[row] === left && this.right[row] === right)) return row;
    }
  }

  protected allocate(left: number, right: number): number {
    const row = this.#free.pop() ?? this.length++;
    if (row >= this.left.length) this.grow();
    this.left[row] = left;
    this.right[row] = right;
    this.live++;
    return row;
  }

  protected free(row: number): void {
    this.left[row] = -1;
    this.#free.push(row);
    this.live--;
  }

  protected override hashOf(row: number): number {
    return mix(this.left[row]!, this.right[row]!, 0);
  }

  protected grow(): void {
    this.left = grown(this.left, int32);
    this.right = grown(this.right, int32);
    this.expires = grown(this.expires, (length) => new Float64Array(length));
    this.byLeft.resize(this.left.length);
    this.byRight.resize(this.left.length);
    this.ids.resize(this.left.length);
  }
}

/** Converts `expires_at` for comparison with `now`. */
export const expiryOf = (text: string | null) => (text === null ? Infinity : Date.parse(text));
