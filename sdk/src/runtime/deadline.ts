/** The longest delay that timers support on every platform. */
const longest = 2 ** 31 - 1;

/** Ends an attempt: when its time is over, or when its caller aborts. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Says which of the two ended the attempt. */
  reason(): 'timeout' | 'abort' | undefined;
  /** Restarts the full timeout. */
  restart(): void;
  /** Stops the timeout. The caller may still abort. */
  pause(): void;
  /** Stops the timeout and ignores the caller's signal. */
  end(): void;
}

export function deadline(milliseconds: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = () => controller.abort(caller?.reason);
  const pause = () => clearTimeout(timer);
  const restart = () => {
    pause();
    if (milliseconds <= longest) timer = setTimeout(() => controller.abort(), milliseconds);
  };
  if (caller?.aborted) abort();
  else restart();
  caller?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    reason: () => (caller?.aborted ? 'abort' : controller.signal.aborted ? 'timeout' : undefined),
    restart,
    pause,
    end() {
      pause();
      caller?.removeEventListener('abort', abort);
    },
  };
}

/**
 * Returns the result of `work`, or rejects as soon as the signal aborts. The platform's own fetch holds its request weakly: if
 * the request is collected while a body is read, an abort does not reach the body, and its reader would wait for ever.
 */
export function orAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
