import type { Logger } from 'pino';

/** Work that begins once the response of a request is on its way. It may be lost with the process, so something else must repeat it. */
export interface Later {
  run(work: () => Promise<unknown>): void;
  /** Resolves when no such work runs any more. */
  idle(): Promise<void>;
}

export function createLater(log: Pick<Logger, 'warn'>): Later {
  const running = new Set<Promise<unknown>>();
  return {
    run(work) {
      const turn = new Promise<void>((resolve) => setImmediate(resolve));
      const one = turn
        .then(work)
        .catch((error: unknown) => log.warn({ err: error }, 'work after a response failed'))
        .finally(() => running.delete(one));
      running.add(one);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
