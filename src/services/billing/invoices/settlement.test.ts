import { Big } from 'big.js';
import { describe, expect, it } from 'vitest';
import { priceOf, chargesOf, type Tier } from '../pricing/rating.ts';
import type { Owed } from './owed.ts';
import { reopened, settled, unsettledLines } from './settlement.ts';

const january = { start: Date.parse('2026-01-15T10:00Z'), end: Date.parse('2026-02-15T10:00Z') };
const plan = { planId: 'plan_pro', revision: 1, periodStart: january.start };
const tiers: Tier[] = [
  { type: 'graduated', up_to: 10_000, unit_amount_decimal: '0', flat_amount: { amount: 0 } },
  { type: 'graduated', up_to: -1, unit_amount_decimal: '0.5', flat_amount: { amount: 0 } },
];

function calls(quantity: string, isOver = true): Owed {
  const charges = chargesOf(tiers, new Big(quantity));
  const about = { type: 'usage' as const, name: 'API calls', stretch: january, isWhole: true, isOver };
  return { ...about, key: { ...plan, featureKey: 'api_calls' }, charges, amount: priceOf(charges) };
}

function base(amount: bigint, part: Partial<Owed> = {}): Owed {
  const unit = new Big(amount.toString());
  const charges = [{ after: new Big(0), quantity: new Big(1), unit, flat: 0n, amount }];
  const about = { type: 'base' as const, name: 'Pro', stretch: january, isWhole: true, isOver: true };
  return { ...about, key: { ...plan, featureKey: null }, charges, amount, ...part };
}

const shown = (owed: readonly Owed[], before = new Map(), scope: 'ended' | 'begun' = 'ended') =>
  unsettledLines(owed, before, scope).map(
    ({ type, description, amount }) => `${type}: ${description}, ${amount}`,
  );

describe('what an invoice bills', () => {
  it('is each tier of what was never billed', () => {
    expect(shown([base(4_900n), calls('10200')])).toEqual([
      'base: Pro, 4900',
      'usage: API calls (1 – 10,000), 0',
      'usage: API calls (10,001 – 10,200), 100',
    ]);
    expect(shown([calls('10200.5')])).toEqual([
      'usage: API calls (1 – 10,000), 0',
      'usage: API calls (beyond 10,000), 100',
    ]);
    expect(shown([calls('0'), calls('-3')])).toEqual([]);
  });

  it('is not the running period, unless somebody asks for it', () => {
    expect(shown([calls('5', false)])).toEqual([]);
    expect(shown([calls('5', false)], new Map(), 'begun')).toEqual(
      ['usage: API calls (1 – 5), 0'].map((line) => line.replace(' (1 – 5)', '')),
    );
  });

  it('names the days of a base price that is not for the whole period', () => {
    const stretch = { ...january, start: Date.parse('2026-01-25T16:00Z') };
    expect(shown([base(6_627n, { stretch, isWhole: false })])).toEqual([
      'base: Pro (2026-01-25 – 2026-02-15), 6627',
    ]);
  });

  it('has a base price of 0 only while the period runs', () => {
    expect(shown([base(0n)], new Map(), 'begun')).toEqual([]);
    expect(shown([base(0n, { isOver: false })], new Map(), 'begun')).toEqual(['base: Pro, 0']);
  });

  it('is one line for what differs from what was settled, an adjustment once the period was over', () => {
    const running = [calls('10200', false)];
    const atHalf = settled(new Map(), unsettledLines(running, new Map(), 'begun'), running);
    expect(shown([calls('10200')], atHalf)).toEqual([]);
    expect(shown([calls('10300')], atHalf)).toEqual([
      'usage: API calls (2026-01-15 – 2026-02-15), difference, 50',
    ]);
    const over = [calls('10300')];
    const atEnd = settled(atHalf, unsettledLines(over, atHalf, 'ended'), over);
    expect(shown([calls('10100')], atEnd)).toEqual([
      'adjustment: API calls (2026-01-15 – 2026-02-15), adjustment, -100',
    ]);
    expect(shown([calls('0')], atEnd)).toEqual([
      'adjustment: API calls (2026-01-15 – 2026-02-15), adjustment, -150',
    ]);
  });

  it('is what an invoice billed that is voided to be billed again', () => {
    const first = [calls('10200', false)];
    const firstLines = unsettledLines(first, new Map(), 'begun');
    const one = settled(new Map(), firstLines, first);
    const second = [calls('10300')];
    const secondLines = unsettledLines(second, one, 'ended');
    const both = settled(one, secondLines, second);
    expect(shown(second, reopened(one, firstLines))).toEqual(shown(second));
    expect(unsettledLines(second, reopened(both, firstLines), 'ended').map(({ amount }) => amount)).toEqual([
      100n,
    ]);
    expect(unsettledLines(second, reopened(both, secondLines), 'ended').map(({ amount }) => amount)).toEqual([
      50n,
    ]);
    const neither = reopened(reopened(both, firstLines), secondLines);
    expect(shown(second, neither)).toEqual(shown(second));
  });
});
