/**
 * A bounded cache whose keys are pairs of texts chosen by callers. It keeps two generations: an entry that is read again moves
 * to the new one, and the old one is dropped as a whole. A hit in the new generation writes nothing.
 */
export class Memo<Value> {
  readonly #half: number;
  readonly #weigh: (value: Value) => number;
  #young = new Map<string, Map<string, Value>>();
  #old = new Map<string, Map<string, Value>>();
  #count = 0;

  /** Holds values with a total weight of at most `limit`. */
  constructor(limit = 4_096, weigh: (value: Value) => number = () => 1) {
    this.#half = limit >> 1;
    this.#weigh = weigh;
  }

  get(first: string, second: string): Value | undefined {
    const value = this.#young.get(first)?.get(second);
    if (value !== undefined) return value;
    const kept = this.#old.get(first)?.get(second);
    if (kept !== undefined) this.set(first, second, kept);
    return kept;
  }

  set(first: string, second: string, value: Value): void {
    const weight = this.#weigh(value);
    if (this.#count > 0 && this.#count + weight > this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#count = 0;
    }
    let inner = this.#young.get(first);
    if (inner === undefined) this.#young.set(first, (inner = new Map<string, Value>()));
    if (!inner.has(second)) this.#count += weight;
    inner.set(second, value);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#count = 0;
  }

  /** Number of values held, never more than the limit. */
  get size(): number {
    let size = 0;
    for (const generation of [this.#young, this.#old])
      for (const inner of generation.values()) size += inner.size;
    return size;
  }
}
