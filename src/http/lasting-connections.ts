/**
 * The most long-lived connections of one caller: without a limit, one caller could take all connections that the server accepts.
 */
const mostOfOne = 100;

/**
 * Counts long-lived connections by caller: those that have left HTTP, and streams of events. They last until one side ends them.
 */
export class LastingConnections {
  readonly #counts = new Map<string, number>();

  /** Returns the function that ends the connection's count. Throws the error of `busy` when the caller has too many. */
  take(line: string, busy: () => Error): () => void {
    const count = this.#counts.get(line) ?? 0;
    if (count >= mostOfOne) throw busy();
    this.#counts.set(line, count + 1);
    return () => {
      const left = (this.#counts.get(line) ?? 1) - 1;
      if (left > 0) this.#counts.set(line, left);
      else this.#counts.delete(line);
    };
  }
}
