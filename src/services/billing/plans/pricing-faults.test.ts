import { describe, expect, it } from 'vitest';
import type { PricingTierInput } from '../../../../generated/billing/types.ts';
import { featureFault, pricingFault } from './pricing-faults.ts';

const usd = (amount: number) => ({ amount, currency: 'usd' });
const features = [
  { key: 'calls', type: 'metered' as const },
  { key: 'seats', type: 'seat' as const },
  { key: 'sso', type: 'boolean' as const },
];
const tier = (up_to: number, more: Partial<PricingTierInput> = {}): PricingTierInput => ({
  feature_key: 'calls',
  type: 'graduated',
  up_to,
  ...more,
});

describe('prices', () => {
  it.each<[string | undefined, PricingTierInput[]]>([
    [undefined, []],
    [undefined, [tier(10), tier(20), tier(-1)]],
    [undefined, [tier(10), tier(-1, { feature_key: 'seats', type: 'volume' }), tier(-1)]],
    [undefined, [tier(-1, { unit_amount: usd(1), unit_amount_decimal: '0.5' })]],
    [undefined, [tier(-1, { type: 'flat', flat_amount: usd(900), unit_amount: usd(0) })]],
    ['pricing.tiers.0.feature_key: no such feature', [tier(-1, { feature_key: 'gigabytes' })]],
    ['pricing.tiers.0.feature_key: a boolean feature has no price', [tier(-1, { feature_key: 'sso' })]],
    [
      'pricing.tiers.0.unit_amount.currency: must be usd',
      [tier(-1, { unit_amount: { amount: 1, currency: 'eur' } })],
    ],
    [
      'pricing.tiers.0.flat_amount.currency: must be usd',
      [tier(-1, { flat_amount: { amount: 1, currency: 'eur' } })],
    ],
    [
      'pricing.tiers.0.unit_amount: must be unit_amount_decimal, rounded half up',
      [tier(-1, { unit_amount: usd(0), unit_amount_decimal: '0.5' })],
    ],
    [
      'pricing.tiers.0.unit_amount: a flat tier has no price for a unit',
      [tier(-1, { type: 'flat', unit_amount_decimal: '0.1' })],
    ],
    [
      'pricing.tiers.1.type: must be the same in all tiers of a feature',
      [tier(10), tier(-1, { type: 'volume' })],
    ],
    ['pricing.tiers.1.up_to: must be more than in the tier before', [tier(10), tier(10), tier(-1)]],
    ['pricing.tiers.1.up_to: follows a tier without bound', [tier(-1), tier(-1)]],
    ['pricing.tiers.1.up_to: must be -1 in the last tier of a feature', [tier(10), tier(20)]],
    ['pricing.tiers.0.up_to: must be -1 or at least 1', [tier(0), tier(-1)]],
  ])('%s', (expected, tiers) => {
    const found = pricingFault({ tiers }, features, 'usd');
    expect(found && `${found.param}: ${found.problem}`).toBe(expected);
  });

  it('are in the currency of the plan', () => {
    expect(pricingFault({ base_amount: usd(1), tiers: [] }, features, 'eur')?.param).toBe(
      'pricing.base_amount.currency',
    );
  });

  it('are of features with different keys', () => {
    expect(featureFault(features)).toBeUndefined();
    expect(featureFault([...features, { key: 'seats' }])).toMatchObject({
      code: 'duplicate_feature',
      param: 'features.3.key',
    });
  });
});
