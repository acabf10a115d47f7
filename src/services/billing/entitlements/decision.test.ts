import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Feature } from '../../../../generated/billing/types.ts';
import { entitlement } from './decision.ts';

const calls: Feature = {
  key: 'calls',
  name: 'Calls',
  type: 'metered',
  limit: 10,
  period: 'monthly',
  soft_limit: false,
};
const resetsAt = '2026-02-15T10:00:00.000Z';
const decide = (feature: Partial<Feature> | undefined, used: Big.BigSource, quantity: Big.BigSource = 1) =>
  entitlement(
    'calls',
    feature && { ...calls, ...feature },
    { used: new Big(used), resetsAt },
    new Big(quantity),
  );

describe('a feature', () => {
  it.each<[string, ReturnType<typeof decide>, object]>([
    [
      'below its limit',
      decide({}, 8),
      { allowed: true, used: 8, remaining: 2, over_limit: false, resets_at: resetsAt },
    ],
    ['at its last unit', decide({}, 9), { allowed: true, remaining: 1 }],
    ['at its limit', decide({}, 10), { allowed: false, remaining: 0, reason: 'quota_exceeded' }],
    [
      'beyond its limit',
      decide({}, '12.5'),
      { allowed: false, used: 12.5, remaining: 0, reason: 'quota_exceeded' },
    ],
    [
      'for more than is left',
      decide({}, 8, '2.5'),
      { allowed: false, remaining: 2, reason: 'quota_exceeded' },
    ],
    ['for a part of a unit', decide({}, '9.5', '0.5'), { allowed: true, remaining: 0.5 }],
    [
      'with a soft limit',
      decide({ soft_limit: true }, 10),
      { allowed: true, remaining: 0, over_limit: true },
    ],
    [
      'without a limit',
      decide({ limit: -1 }, '1e20'),
      { allowed: true, used: Number.MAX_SAFE_INTEGER, remaining: -1 },
    ],
    ['that never restarts', decide({ period: 'none' }, 1), { allowed: true, resets_at: null }],
    ['of seats', decide({ type: 'seat' }, 10), { allowed: false, type: 'seat', resets_at: null }],
    ['with a limit of 0', decide({ limit: 0 }, 0), { allowed: false, reason: 'quota_exceeded' }],
    [
      'that is on',
      decide({ type: 'boolean', limit: 1 }, 0),
      { allowed: true, used: 0, remaining: 1, resets_at: null },
    ],
    [
      'that is off',
      decide({ type: 'boolean', limit: 0 }, 0),
      { allowed: false, remaining: 0, reason: 'feature_disabled' },
    ],
    [
      'that the plan lacks',
      decide(undefined, 0),
      { allowed: false, limit: 0, type: null, reason: 'feature_not_in_plan' },
    ],
  ])('%s', (_, result, expected) => {
    expect(result).toMatchObject({ feature: 'calls', ...expected });
    expect('reason' in result).toBe(!result.allowed);
  });

  it('is never allowed beyond a hard limit', () => {
    const parts = fc
      .integer({ min: 0, max: 20_000 })
      .map((thousandths) => new Big(thousandths).times('0.001'));
    fc.assert(
      fc.property(parts, parts, (used, quantity) => {
        expect(decide({}, used, quantity).allowed).toBe(used.plus(quantity).lte(10));
      }),
    );
  });
});
