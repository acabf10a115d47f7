/** The longest that timers of all platforms can wait. */
const longest = 2 ** 31 - 1;

/** What ends a try: its time is over, or its caller gave up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Which of the two happened. */
  reason(): 'timeout' | 'abort' | undefined;
  /** Gives the full time again. */
  restart(): void;
  /** The time does not matter any more; the caller may still give up. */
  pause(): void;
  /** Forgets both. */
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
