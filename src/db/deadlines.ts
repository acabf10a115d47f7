/** Deadlines of equal length. */
export interface Deadlines {
  /** Calls `fn` when the time is over, unless the returned function was called before. */
  add(fn: () => void): () => void;
}

interface Waiting {
  readonly due: number;
  readonly fn: () => void;
}

const everyMs = 200;

/**
 * Deadlines that count only the time in which the process could read answers: while it is blocked, by loading a module or by the
 * machine, answers wait in its sockets, which is not the sender's fault. A deadline is late by up to two ticks.
 */
export function createDeadlines(ms: number): Deadlines {
  // All deadlines have equal length, so they expire in the order in which they were added.
  const waiting = new Set<Waiting>();
  let aliveMs = 0;
  let looked = 0;
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    const now = performance.now();
    aliveMs += Math.min(now - looked, 2 * everyMs);
    looked = now;
    for (const one of waiting) {
      if (one.due > aliveMs) break;
      waiting.delete(one);
      one.fn();
    }
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    add(fn) {
      if (timer === undefined) {
        looked = performance.now();
        timer = setInterval(tick, everyMs);
      }
      const own = { due: aliveMs + ms, fn };
      waiting.add(own);
      return () => void waiting.delete(own);
    },
  };
}
