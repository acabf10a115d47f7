import type { EndpointHealth } from '../../../../generated/webhooks/types.ts';

/** What the lane of an endpoint remembers; every member is null while there is no lane. */
export interface LaneState {
  readonly breaker: 'closed' | 'open' | 'half_open' | null;
  readonly consecutive_failures: number | null;
  readonly failing_since: string | null;
  readonly retry_at: string | null;
  readonly last_success_at: string | null;
}

/** @param now in the form of the timestamps, which sort like the moments */
export function healthOf(lane: LaneState, now: string): EndpointHealth {
  const { failing_since, last_success_at, retry_at } = lane;
  const consecutive_failures = lane.consecutive_failures ?? 0;
  const state = stateOf(lane, now);
  const waits = state === 'open' || state === 'throttled';
  return { state, consecutive_failures, failing_since, retry_at: waits ? retry_at : null, last_success_at };
}

function stateOf(
  { breaker, retry_at, consecutive_failures }: LaneState,
  now: string,
): EndpointHealth['state'] {
  if (breaker === 'open' || breaker === 'half_open') return 'open';
  if (retry_at !== null && retry_at > now) return 'throttled';
  return (consecutive_failures ?? 0) > 0 ? 'failing' : 'healthy';
}
