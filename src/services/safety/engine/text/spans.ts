/**
 * Spans of a text in ascending order, of which those that overlap are one. Spans are added by ascending beginning or end. They
 * are kept as pairs of numbers, because a text may have as many as it has words.
 */
export class Spans {
  #pairs = new Uint32Array(8);
  #length = 0;
  readonly #joinsNeighbours: boolean;

  constructor(joinsNeighbours = false) {
    this.#joinsNeighbours = joinsNeighbours;
  }

  get count(): number {
    return this.#length / 2;
  }

  add(start: number, end: number): void {
    let from = start;
    let to = end;
    while (this.#length > 0) {
      const last = this.#pairs[this.#length - 1]!;
      if (last < from || (last === from && !this.#joinsNeighbours)) break;
      from = Math.min(from, this.#pairs[this.#length - 2]!);
      to = Math.max(to, last);
      this.#length -= 2;
    }
    if (this.#length === this.#pairs.length) {
      const pairs = new Uint32Array(this.#length * 2);
      pairs.set(this.#pairs);
      this.#pairs = pairs;
    }
    this.#pairs[this.#length++] = from;
    this.#pairs[this.#length++] = to;
  }

  at(index: number): readonly [start: number, end: number] {
    return [this.#pairs[index * 2]!, this.#pairs[index * 2 + 1]!];
  }

  *[Symbol.iterator](): IterableIterator<readonly [start: number, end: number]> {
    for (let index = 0; index < this.count; index++) yield this.at(index);
  }
}
