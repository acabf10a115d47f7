import { expect, test } from 'vitest';
import { healthOf, type LaneState } from './health.ts';

const [before, now, later] = [9, 10, 11].map((hour) =>
  new Date(Date.UTC(2026, 10, 20, hour)).toISOString(),
) as [string, string, string];
const unknown: LaneState = {
  breaker: null,
  consecutive_failures: null,
  failing_since: null,
  retry_at: null,
  last_success_at: null,
};

test.each<[Partial<LaneState>, string, string | null]>([
  [{}, 'healthy', null],
  [{ breaker: 'closed', consecutive_failures: 0 }, 'healthy', null],
  [{ breaker: 'closed', consecutive_failures: 3 }, 'failing', null],
  [{ breaker: 'closed', consecutive_failures: 3, retry_at: later }, 'throttled', later],
  [{ breaker: 'closed', consecutive_failures: 0, retry_at: later }, 'throttled', later],
  [{ breaker: 'closed', consecutive_failures: 1, retry_at: before }, 'failing', null],
  [{ breaker: 'open', consecutive_failures: 10, retry_at: later }, 'open', later],
  [{ breaker: 'open', consecutive_failures: 10, retry_at: before }, 'open', before],
  [{ breaker: 'half_open', consecutive_failures: 10, retry_at: before }, 'open', before],
])('a lane with %j is %s until %s', (lane, state, retry_at) => {
  expect(healthOf({ ...unknown, ...lane }, now)).toMatchObject({ state, retry_at });
});
