/** The most connections of one caller that last: without a limit, one caller could take all that the server accepts. */
const mostOfOne = 100;

/** Counts the connections that last until one side ends them, by caller: those that have left HTTP, and streams of events. */
export class LastingConnections {
  readonly #counts = new Map<string, number>();

  /** Returns what ends the connection's count. Throws the error of `busy` when the caller has too many. */
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
