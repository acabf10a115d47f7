import type * as T from '../../../services/jobs/types.ts';
import { longestRepetition, milliseconds } from '../durations.ts';

const defaults = { type: 'exponential', delay: '2s', max: '1h' } as const;

/**
 * Returns the milliseconds to wait after failed attempt `attempt`: a random time up to a bound that doubles, or always the same
 * time.
 */
export function backoffMs(backoff: T.BackoffCreate, attempt: number, chance = Math.random()): number {
  const [type, delay, max] = [
    backoff.type ?? defaults.type,
    backoff.delay ?? defaults.delay,
    backoff.max ?? defaults.max,
  ];
  const delayMs = milliseconds(delay, 'backoff.delay', [0, longestRepetition]);
  if (type === 'fixed') return delayMs;
  const maxMs = milliseconds(max, 'backoff.max', [0, longestRepetition]);
  return chance * Math.min(maxMs, delayMs * 2 ** Math.min(attempt - 1, 30));
}
