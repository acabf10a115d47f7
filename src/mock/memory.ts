/** A record, and the collections below other records that it was put into. */
export interface Kept {
  /** Grows with each record that is added. */
  readonly seq: number;
  values: Record<string, unknown>;
  readonly places: Set<string>;
}

export type NewRecord = Pick<Kept, 'values' | 'places'>;

/**
 * What the mock remembers: shelves of records by name. Bounded: when it is full the oldest records are forgotten, whosever they
 * are.
 */
export class Memory {
  readonly #limit: number;
  readonly #shelves = new Map<string, Set<Kept>>();
  /** Every record with its shelf, the oldest first. */
  readonly #all = new Map<Kept, string>();
  #seq = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#all.size;
  }

  /** The records of a shelf, the newest first. A new shelf begins with `first`. */
  records(shelf: string, first: () => Iterable<NewRecord>): Kept[] {
    if (!this.#shelves.has(shelf)) {
      this.#shelves.set(shelf, new Set());
      for (const record of first()) this.add(shelf, record);
    }
    return [...(this.#shelves.get(shelf) ?? [])].reverse();
  }

  add(shelf: string, { values, places }: NewRecord): Kept {
    this.#seq += 1;
    const record = { seq: this.#seq, values, places };
    this.#shelves.set(shelf, (this.#shelves.get(shelf) ?? new Set()).add(record));
    this.#all.set(record, shelf);
    const [oldest] = this.#all.keys();
    if (this.#all.size > this.#limit && oldest) this.#forget(oldest);
    return record;
  }

  remove(record: Kept): void {
    const shelf = this.#all.get(record);
    if (shelf !== undefined) this.#shelves.get(shelf)?.delete(record);
    this.#all.delete(record);
  }

  /** A shelf from which the last record was pushed out is as new. */
  #forget(record: Kept): void {
    const shelf = this.#all.get(record) ?? '';
    this.remove(record);
    if (this.#shelves.get(shelf)?.size === 0) this.#shelves.delete(shelf);
  }
}
