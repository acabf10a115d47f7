import { describe, expect, it } from 'vitest';
import type { SubscriptionStatus } from '../../../../generated/billing/types.ts';
import { isCheaper, planChangeRefusal, type ComparedPlan } from './plan-change.ts';

const pro: ComparedPlan = {
  planId: 'plan_pro',
  status: 'active',
  currency: 'usd',
  interval: 'monthly',
  base: 4_900n,
};
const plan = (changes: Partial<ComparedPlan>): ComparedPlan => ({ ...pro, planId: 'plan_other', ...changes });

describe('a change of the plan', () => {
  it.each<[string, SubscriptionStatus, ComparedPlan, boolean, string | undefined]>([
    ['to a dearer one', 'active', plan({ base: 9_900n }), true, undefined],
    ['to a cheaper one', 'trialing', plan({ base: 100n }), false, undefined],
    ['when it is past due', 'past_due', pro, false, 'invalid_upgrade subscription_not_active'],
    ['when it has ended', 'canceled', plan({ base: 1n }), true, 'invalid_downgrade subscription_not_active'],
    [
      'to a draft',
      'active',
      plan({ status: 'draft', currency: 'eur' }),
      false,
      'invalid_upgrade plan_not_active',
    ],
    [
      'to another currency',
      'active',
      plan({ currency: 'eur', base: 1n }),
      true,
      'invalid_downgrade currency_mismatch',
    ],
    [
      'to fewer seats than are held',
      'active',
      plan({ base: 100n }),
      true,
      'invalid_downgrade usage_over_limit',
    ],
  ])('%s', (_, status, to, isOverLimit, expected) => {
    const refusal = planChangeRefusal(status, pro, to, isOverLimit);
    expect(refusal && `${refusal.code} ${refusal.reason}`).toBe(expected);
  });

  it('compares the price of a month exactly', () => {
    expect(isCheaper(plan({ interval: 'yearly', base: 12n * 4_900n - 1n }), pro)).toBe(true);
    expect(isCheaper(plan({ interval: 'yearly', base: 12n * 4_900n }), pro)).toBe(false);
    expect(isCheaper(pro, plan({ interval: 'yearly', base: 12n * 4_900n + 1n }))).toBe(true);
  });
});
