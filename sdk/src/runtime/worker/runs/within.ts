/**
 * Does some work under a signal that also aborts after a time, and rejects when the time is over. The caller's signal only asks
 * the work to end.
 */
export async function within<Result>(
  work: (signal: AbortSignal) => Result | Promise<Result>,
  signal: AbortSignal,
  timeoutMs: number | undefined,
): Promise<Result> {
  if (timeoutMs === undefined) return work(signal);
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error('the step timed out');
      controller.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
