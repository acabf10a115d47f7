/**
 * When the next attempt to collect an invoice is due.
 *
 * @param failures attempts that have failed, the one at `failedAt` included
 * @param failedAt milliseconds since 1970
 * @param delaysMs the waits after the first failure, the second and so on
 * @returns milliseconds since 1970, or undefined when no attempt is left
 */
export function nextAttempt(
  failures: number,
  failedAt: number,
  delaysMs: readonly number[],
): number | undefined {
  const delay = delaysMs[failures - 1];
  return delay === undefined ? undefined : failedAt + delay;
}
