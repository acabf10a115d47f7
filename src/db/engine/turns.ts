import { Unavailable } from '../../lib/errors.ts';

/** Lets the work of several lines go on one piece at a time, each line in its turn. */
export interface Turns {
  /** Runs the work when its turn comes. Rejects with `Unavailable` when too much work waits. */
  readonly run: <T>(line: string, work: () => Promise<T>) => Promise<T>;
  /** Resolves when nothing runs or waits. */
  readonly idle: () => Promise<void>;
}

/** @param mostWaiting the most pieces of work that wait, of all lines together */
export function createTurns(mostWaiting: number, overloaded: string): Turns {
  const lines = new Map<string, (() => Promise<void>)[]>();
  let waiting = 0;
  let running: Promise<void> | undefined;

  async function goOn(): Promise<void> {
    // All that comes at the same time takes turns.
    await Promise.resolve();
    while (waiting > 0)
      for (const [line, queue] of lines) {
        const work = queue.shift()!;
        waiting -= 1;
        if (queue.length === 0) lines.delete(line);
        await work();
      }
    running = undefined;
  }

  return {
    run(line, work) {
      if (waiting >= mostWaiting) return Promise.reject(Unavailable(overloaded));
      return new Promise((resolve, reject) => {
        const queue = lines.get(line) ?? [];
        lines.set(line, queue);
        queue.push(() => work().then(resolve, reject));
        waiting += 1;
        running ??= goOn();
      });
    },
    async idle() {
      while (running !== undefined) await running;
    },
  };
}
