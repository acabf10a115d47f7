import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, moved, reclaimed, type Outcome, type Standing } from './outcome.ts';

const expected = { amount: 5_000n, currency: 'usd' };
const open: Standing = { status: 'pending', received: 0n, refunded: 0n, failure: null };
const failure = { code: 'card_declined', message: 'declined' };
const failed = { kind: 'failed', ...failure } as const;

/** Where a payment ends after outcomes in this order. What cannot be is not applied. */
const endOf = (outcomes: readonly Outcome[]): Standing =>
  outcomes.reduce((standing, outcome) => {
    const move = moved(standing, expected, outcome);
    return move === undefined || 'fault' in move ? standing : move;
  }, open);

const outcomes = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('succeeded' as const), amount: fc.bigInt(0n, 9_000n) }),
    fc.constant<Outcome>({ kind: 'succeeded' }),
    fc.constant<Outcome>({ kind: 'succeeded', amount: 7_000n, currency: 'eur' }),
    fc.record({ kind: fc.constant('refunded' as const), total: fc.bigInt(0n, 5_000n) }),
    fc.constant<Outcome>(failed),
    fc.constant<Outcome>({ kind: 'canceled' }),
  ),
  { maxLength: 8 },
);

describe('outcomes', () => {
  it('lead to the same end in any order and however often they come', () => {
    const inAnyOrder = outcomes.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 })),
    );
    fc.assert(
      fc.property(inAnyOrder, ([list, shuffled]) => {
        expect(endOf(shuffled)).toEqual(endOf(list));
      }),
    );
  });

  it('never lower what has arrived or was refunded, nor take a success back', () => {
    fc.assert(
      fc.property(outcomes, (list) => {
        let before = open;
        for (const outcome of list) {
          const move = moved(before, expected, outcome);
          if (move === undefined || 'fault' in move) continue;
          expect(move.received >= before.received && move.refunded >= before.refunded).toBe(true);
          if (before.status === 'succeeded') expect(move.status).toMatch(/succeeded|refunded/);
          before = move;
        }
      }),
    );
  });

  it.each<[string, Outcome[], Partial<Standing>]>([
    ['success', [{ kind: 'succeeded' }], { status: 'succeeded', received: 5_000n }],
    ['a smaller success', [{ kind: 'succeeded', amount: 3_000n }], { status: 'succeeded', received: 3_000n }],
    ['a larger success', [{ kind: 'succeeded', amount: 6_000n }], { status: 'succeeded', received: 6_000n }],
    ['failure', [failed], { status: 'failed', failure }],
    ['success after failure', [failed, { kind: 'succeeded' }], { status: 'succeeded', failure: null }],
    ['failure after success', [{ kind: 'succeeded' }, failed], { status: 'succeeded', failure: null }],
    ['success after cancellation', [{ kind: 'canceled' }, { kind: 'succeeded' }], { status: 'succeeded' }],
    [
      'a refund that is heard of first',
      [{ kind: 'refunded', total: 10n }],
      { status: 'pending', refunded: 10n },
    ],
    [
      'its success',
      [{ kind: 'refunded', total: 10n }, { kind: 'succeeded' }],
      { status: 'refunded', received: 5_000n, refunded: 10n },
    ],
    [
      'refunds one by one',
      [{ kind: 'succeeded' }, { kind: 'refunded', more: 10n }, { kind: 'refunded', more: 20n }],
      { status: 'refunded', refunded: 30n },
    ],
    ['a refund without an amount', [{ kind: 'succeeded' }, { kind: 'refunded' }], { refunded: 5_000n }],
  ])('%s', (_, list, end) => {
    expect(endOf(list)).toMatchObject(end);
  });

  it('that cannot be are named', () => {
    expect(moved(open, expected, { kind: 'succeeded', currency: 'eur' })).toEqual({
      fault: 'an outcome in another currency',
    });
    expect(moved(open, expected, { kind: 'refunded', total: 5_001n })).toEqual({
      fault: 'a refund of more than was paid',
    });
  });
});

it.each([
  [5_000n, 0n, 0n, 5_000n],
  [5_000n, 0n, 2_000n, 3_000n],
  [2_000n, 0n, 5_000n, 0n],
  [5_000n, 2_000n, 2_000n, 5_000n],
])(
  'of %d that no invoice needed, %d taken and %d refunded, %d is the credit',
  (growth, reclaimed, refunds, given) => {
    expect(creditOf({ growth, reclaimed }, { unapplied: growth, refunds }).given).toBe(given);
  },
);

it.each<[string, bigint, bigint, Partial<Parameters<typeof reclaimed>[2]>, bigint]>([
  ['of money that the invoice kept takes none', 0n, 5_000n, {}, 0n],
  ['takes what the invoice did not need first', 2_000n, 3_000n, {}, 2_000n],
  ['takes what was given back of the invoice', 0n, 5_000n, { given: 4_500n }, 4_500n],
  ['takes no more than it returns', 0n, 1_000n, { given: 4_500n }, 1_000n],
  ['that the credit left out takes none', 0n, 5_000n, { given: 4_000n, withheld: 5_000n }, 0n],
  ['after that one takes only what it returns', 0n, 6_000n, { given: 4_000n, withheld: 5_000n }, 1_000n],
  [
    'leaves what a refund of another payment took',
    0n,
    5_000n,
    { given: 4_500n, reclaimedByOthers: 4_000n },
    500n,
  ],
])('a refund %s', (_, unapplied, refunds, returns, taken) => {
  const none = { given: 0n, withheld: 0n, reclaimedByOthers: 0n, refundedByOthers: 0n };
  expect(reclaimed(unapplied, refunds, { ...none, ...returns })).toBe(taken);
});
