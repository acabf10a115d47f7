import { duration } from '../durations.ts';
import type { Recorder } from './recorder.ts';

/** What keeps a run from going on at once, and for how long at most. */
export type Wait = { readonly delayMs: number } & (
  | { readonly for: 'timer' }
  | { readonly for: 'retry'; readonly step: string; readonly error: string }
  | {
      readonly for: 'signal';
      readonly step: string;
      readonly signal: string;
      /** Whether the server knows that the step waits. */
      readonly isWaiting: boolean;
    }
);

/** How often a run that waits for several signals looks for those that came while it was being put off. */
const lookMs = 60_000;

/**
 * Puts the job of a run off until the first of its waits is over. One request says what it waits for, so a failed step comes first, as its
 * attempt has to count; of several, the others will be attempted again as if they had not been.
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
    // An earlier execution may have recorded the end of the step meanwhile; the run then goes on at once.
    return state === 'retrying' ? undefined : recorder.snooze(0);
  }
  const awaited = waits.filter((wait) => wait.for === 'signal');
  const unknown = awaited.filter(({ isWaiting }) => !isWaiting);
  const [told] = [...unknown, ...awaited];
  if (told === undefined) return recorder.snooze(soonestMs);
  // The next execution tells the server of the next signal.
  const delayMs = unknown.length > 1 ? 0 : awaited.length > 1 ? Math.min(soonestMs, lookMs) : soonestMs;
  await recorder.snooze(delayMs, { signal: told.signal, step: told.step });
}
