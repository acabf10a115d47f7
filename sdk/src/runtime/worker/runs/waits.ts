import { duration } from '../durations.ts';
import type { Recorder } from './recorder.ts';

/** The reason why a run cannot continue at once, and the longest time for which it has to wait. */
export type Wait = { readonly delayMs: number } & (
  | { readonly for: 'timer' }
  | { readonly for: 'retry'; readonly step: string; readonly error: string }
  | {
      readonly for: 'signal';
      readonly step: string;
      readonly signal: string;
      /** Whether the server has been told that the step waits. */
      readonly isWaiting: boolean;
    }
);

/** How often a run that waits for several signals looks for signals that arrived while it was being postponed. */
const lookMs = 60_000;

/**
 * Postpones the job of a run until the first of its waits is over. One request names only one reason. A failed step comes first,
 * because its attempt has to count; if several steps failed, the others are attempted again as if they had not been attempted
 * yet.
 */
export async function suspend(recorder: Recorder, waits: readonly Wait[]): Promise<void> {
  const soonestMs = Math.min(...waits.map(({ delayMs }) => delayMs));
  const failed = waits
    .filter((wait) => wait.for === 'retry')
    .sort((one, other) => one.delayMs - other.delayMs);
  const [first] = failed;
  if (first !== undefined) {
    const { error, step } = first;
    const { state } = await recorder.save(step, { error, retry_in: duration(soonestMs) });
    // An earlier execution may have recorded the end of the step in the meantime; the run then continues at once.
    return state === 'retrying' ? undefined : recorder.snooze(0);
  }
  const awaited = waits.filter((wait) => wait.for === 'signal');
  const unknown = awaited.filter(({ isWaiting }) => !isWaiting);
  const [told] = [...unknown, ...awaited];
  if (told === undefined) return recorder.snooze(soonestMs);
  // The next execution tells the server about the next signal.
  const delayMs = unknown.length > 1 ? 0 : awaited.length > 1 ? Math.min(soonestMs, lookMs) : soonestMs;
  await recorder.snooze(delayMs, { signal: told.signal, step: told.step });
}
