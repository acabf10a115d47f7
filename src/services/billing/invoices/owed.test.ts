import { Big } from 'big.js';
import { describe, expect, it } from 'vitest';
import { beginning, planChange } from '../periods/course.ts';
import { segmentAt, type Segment } from '../periods/segments.ts';
import { replacedFrom } from '../periods/testing/replaced.ts';
import { owedBy, type Account, type PricedPlan } from './owed.ts';

const at = (text: string) => Date.parse(text);
const start = at('2026-01-15T10:00Z');
const priced = (planId: string): PricedPlan => ({
  planId,
  revision: 1,
  name: planId,
  interval: 'monthly',
  features: [
    { key: 'calls', name: 'Calls', type: 'metered' },
    { key: 'seats', name: 'Seats', type: 'seat' },
  ],
  tiers: new Map(
    ['calls', 'seats'].map((key) => [
      key,
      [{ type: 'graduated' as const, up_to: -1, unit_amount_decimal: '10', flat_amount: { amount: 0 } }],
    ]),
  ),
});
const terms = (planId: string, base: bigint) => ({ planId, revision: 1, interval: 'monthly' as const, base });
const account = (segments: readonly Segment[], tallies: Account['tallies'] = []): Account => ({
  segments,
  tallies,
  others: [],
  seatsBefore: new Map([['seats', new Big(2)]]),
  planOf: ({ planId }) => priced(planId),
});
const shown = (owed: ReturnType<typeof owedBy>) =>
  owed.map(
    ({ name, key, isOver, amount }) => `${key.planId} ${name} ${isOver ? 'over' : 'running'} ${amount}`,
  );

/** The segments after a change of the plan at each of the instants. */
function changes(instants: readonly number[]): Segment[] {
  const { anchor, segments } = beginning(terms('pro', 4_900n), { start, trialEnd: start });
  return instants.reduce(
    (before: Segment[], instant, index) => {
      const current = segmentAt(before, instant)!;
      const next = terms(index === 0 ? 'max' : `plan_${index}`, 9_900n);
      return replacedFrom(
        before,
        instant,
        planChange(next, { at: instant, anchor, windowAnchor: anchor, interval: 'monthly', current }, true)
          .segments,
      );
    },
    [...segments],
  );
}

describe('what a subscription owes', () => {
  const change = at('2026-01-25T16:00Z');
  const segments = changes([change]);
  const used = (segmentStart: number, featureKey: string, quantity: string) => ({
    segmentStart,
    featureKey,
    quantity: new Big(quantity),
  });
  const tallies = [
    used(start, 'calls', '3'),
    used(start, 'seats', '1'),
    used(change, 'calls', '1.5'),
    used(change, 'seats', '-2'),
  ];

  it('is what each plan had of the period, and what was used under it', () => {
    expect(shown(owedBy(account(segments, tallies), at('2026-01-26T00:00Z')))).toEqual([
      'pro pro running 1620',
      'pro Calls running 30',
      'pro Seats running 10',
      'max max running 6627',
      'max Calls running 15',
      'max Seats running 7',
    ]);
  });

  it('is over with the period, when the seats that are still held begin to count in the next one', () => {
    expect(shown(owedBy(account(segments, tallies), at('2026-02-15T10:00Z'))).slice(-4)).toEqual([
      'max Seats over 7',
      'max max running 9900',
      'max Calls running 0',
      'max Seats running 10',
    ]);
  });

  it('sums to the base price of the period over 100 changes of the plan', () => {
    const hours = Array.from({ length: 100 }, (_, index) => start + (index + 1) * 3_600_000);
    const bases = owedBy(account(changes(hours)), start).filter(({ type }) => type === 'base');
    expect(bases).toHaveLength(101);
    const rest = 9_900n - bases.reduce((sum, { amount }) => sum + amount, 0n);
    // The first hour had the lower price: of 744 hours, one costs 5000/744 less.
    expect(rest).toBe(6n);
  });
});
