/**
 * A bounded cache under pairs of texts that callers choose. Two generations: what is asked for again is carried into
 * the new one, the old one is dropped as a whole; a hit in the new one writes nothing.
 */
export class Memo<Value> {
  readonly #half: number;
  #young = new Map<string, Map<string, Value>>();
  #old = new Map<string, Map<string, Value>>();
  #count = 0;

  /** Holds at most `limit` values. */
  constructor(limit = 4_096) {
    this.#half = limit >> 1;
  }

  get(first: string, second: string): Value | undefined {
    const value = this.#young.get(first)?.get(second);
    if (value !== undefined) return value;
    const kept = this.#old.get(first)?.get(second);
    if (kept !== undefined) this.set(first, second, kept);
    return kept;
  }

  set(first: string, second: string, value: Value): void {
    if (this.#count >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#count = 0;
    }
    let inner = this.#young.get(first);
    if (inner === undefined) this.#young.set(first, (inner = new Map<string, Value>()));
    if (!inner.has(second)) this.#count++;
    inner.set(second, value);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#count = 0;
  }

  /** Values held; never more than the limit. */
  get size(): number {
    let size = 0;
    for (const generation of [this.#young, this.#old])
      for (const inner of generation.values()) size += inner.size;
    return size;
  }
}
