import type { Worker } from 'node:cluster';

/*
 * A worker whose event loop hangs keeps its share of the connections but answers none. So the primary process regularly pings each
 * worker, and a worker that has not answered for a while is killed and replaced like a worker that died.
 */

const question = 'plinth:pulse';

/** How often each worker is pinged, in milliseconds, and how many pings it may leave unanswered. */
const pulse = { everyMs: 2_000, unanswered: 7 };

/** Runs in a worker: answers the pings. */
export function answerPulse(): void {
  process.on('message', (message) => {
    if (message === question) process.send?.(question);
  });
}

/** Runs in the primary process: calls `frozen` once when a listening worker has been silent for too long. */
export function watchPulse(worker: Worker, frozen: () => void): void {
  // Counts pings instead of time, because a primary process that was blocked has sent no pings meanwhile.
  let unanswered = 0;
  worker.on('message', (message: unknown) => {
    if (message === question) unanswered = 0;
  });
  const timer = setInterval(() => {
    if (unanswered === pulse.unanswered) {
      clearInterval(timer);
      frozen();
    } else if (worker.isConnected()) {
      unanswered += 1;
      worker.send(question, () => {});
    }
  }, pulse.everyMs);
  timer.unref();
  worker.once('exit', () => clearInterval(timer));
}
