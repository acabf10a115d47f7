import { afterEffect, mostFailures, type Breaker } from '../../../delivery/breaker.ts';
import type { LaneEffect } from '../../../delivery/lane-effects.ts';
import { firstWindow, grown, halved } from './window.ts';

/** What an endpoint's lane remembers between attempts. Times are milliseconds since 1970. */
export interface Lane extends Breaker {
  /** How many attempts may be in flight. */
  readonly window_size: number;
  readonly failing_since: number | null;
  readonly last_success_at: number | null;
}

export interface LaneRules {
  readonly maxConcurrency: number;
  /** How long an endpoint may fail before it is disabled; 0 is for ever. */
  readonly disableAfterMs: number;
}

/** Why an endpoint is disabled after an attempt; null if it is not. */
export type Disabling = 'gone' | 'failing' | null;

/** The lane after an attempt. `now` is the time of the database. */
export function afterAttempt(
  lane: Lane,
  effect: LaneEffect,
  { maxConcurrency }: Pick<LaneRules, 'maxConcurrency'>,
  now: number,
  chance: number,
): Lane {
  const next = withSign(lane, effect, maxConcurrency, now, chance);
  return effect.isOverloaded ? { ...next, window_size: halved(next.window_size) } : next;
}

function withSign(lane: Lane, effect: LaneEffect, maxConcurrency: number, now: number, chance: number): Lane {
  const next = { ...lane, ...afterEffect(lane, effect, now, chance) };
  if (effect.sign === 'none') return next;
  if (effect.sign === 'failure') {
    const window_size = next.breaker === 'open' ? firstWindow : lane.window_size;
    return { ...next, window_size, failing_since: lane.failing_since ?? now };
  }
  const window_size = grown(lane.window_size, maxConcurrency);
  const works = { ...next, window_size, failing_since: null, last_success_at: now };
  // The window began anew when the breaker opened, so its size tells how many successes there were since.
  return window_size > Math.min(mostFailures, maxConcurrency - 1) ? { ...works, openings: 0 } : works;
}

/** Whether the endpoint of this lane is disabled after an attempt. */
export function disablingOf(
  { failing_since }: Pick<Lane, 'failing_since'>,
  effect: LaneEffect,
  { disableAfterMs }: Pick<LaneRules, 'disableAfterMs'>,
  now: number,
): Disabling {
  if (effect.isGone) return 'gone';
  const isFailing = effect.sign === 'failure' && disableAfterMs > 0 && failing_since !== null;
  return isFailing && now - failing_since >= disableAfterMs ? 'failing' : null;
}
