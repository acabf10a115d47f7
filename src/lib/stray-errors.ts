import type { Logger } from 'pino';

/** A process with more stray errors than this within the time is not only told of them, but broken. */
const mostTogether = 10;
const togetherMs = 60_000;

let count = 0;

/** How many stray errors this process has had. */
export const strayErrors = (): number => count;

/**
 * Lets the process go on after errors that no request and no work in the background can be told of: a library threw in a callback of its
 * own, or nobody waited for a promise. What failed is lost, as if its answer had never come, while all other services are served. When
 * such errors keep coming, the process is no longer to be trusted: `end` is called, once, and whoever supervises it starts another.
 */
export function surviveStrayErrors(log: Pick<Logger, 'error'>, end: () => void): void {
  const last: number[] = [];
  process.on('uncaughtException', (error, origin) => {
    count += 1;
    log.error({ err: error, origin }, 'an error outside of every request');
    const now = performance.now();
    last.push(now);
    if (last.length <= mostTogether) return;
    if (now - last.shift()! <= togetherMs) end();
  });
}
