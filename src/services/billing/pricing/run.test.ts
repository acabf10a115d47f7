import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargesOf, priceOf, type Tier } from './rating.ts';
import { chargesOfRun, type Use } from './run.ts';

const tier = (type: Tier['type'], up_to: number, unit: string, flat = 0): Tier => ({
  type,
  up_to,
  unit_amount_decimal: unit,
  flat_amount: { amount: flat },
});
const free = [tier('graduated', 100, '0'), tier('graduated', -1, '10')];
const volume = [tier('volume', 100, '0', 50), tier('volume', -1, '10', 200)];
const flat = [tier('flat', 100, '0', 900), tier('flat', -1, '0', 1_900)];

/** Uses one after the other, by the names of their groups: each has its own prices, or those that are named after a dot. */
function run(
  tiers: readonly Tier[],
  uses: readonly [group: string, quantity: Big.BigSource, more?: Partial<Use>][],
) {
  const all = uses.map(([group, quantity, more], at): Use => ({
    ...{ group, prices: group.split('.')[1] ?? group, tiers, interval: 'monthly', month: 1, year: 1 },
    ...{ start: at, end: at + 1, quantity: new Big(quantity), ...more },
  }));
  const charges = chargesOfRun(all);
  return Object.fromEntries(
    [...charges].map(([group, windows]) => [
      group,
      windows.flatMap((window) => window.charges.map(({ amount }) => Number(amount))),
    ]),
  );
}

describe('the use of a tenant in a month', () => {
  it.each<[string, readonly Tier[], Parameters<typeof run>[1], Record<string, number[]>]>([
    [
      'under two plans counts on',
      free,
      [
        ['a', 60],
        ['b', 60],
        ['a', 60],
      ],
      { a: [0, 600], b: [0, 200] },
    ],
    [
      'has flat amounts of one price list once',
      volume,
      [
        ['1.list', 10],
        ['2.list', 10],
      ],
      { '1.list': [50], '2.list': [0] },
    ],
    [
      'by volume costs at the end what it would cost as one',
      volume,
      [
        ['1.list', 10],
        ['2.list', 100],
      ],
      { '1.list': [50], '2.list': [1_250] },
    ],
    [
      'at flat prices pays the difference',
      flat,
      [
        ['1.list', 10],
        ['2.list', 100],
      ],
      { '1.list': [900], '2.list': [1_000] },
    ],
    [
      'at a flat price that is paid costs nothing',
      flat,
      [
        ['1.list', 10],
        ['2.list', 10],
      ],
      { '1.list': [900], '2.list': [] },
    ],
    [
      'under two flat plans costs both',
      flat,
      [
        ['a', 10],
        ['b', 10],
      ],
      { a: [900], b: [900] },
    ],
    [
      'that a correction takes back costs nothing',
      free,
      [
        ['a', 60],
        ['b', 80],
        ['b', -80],
        ['a', 50],
      ],
      { a: [0, 100], b: [] },
    ],
    [
      'below nothing costs nothing',
      free,
      [
        ['a', -20],
        ['a', 110],
      ],
      { a: [0] },
    ],
  ])('%s', (_, tiers, uses, expected) => {
    expect(run(tiers, uses)).toEqual(expected);
  });

  it('begins anew with the next month, for yearly plans with the next year', () => {
    const yearly = { interval: 'yearly' } as const;
    expect(
      run(free, [
        ['a', 90],
        ['b', 90, yearly],
        ['a', 90, { month: 2 }],
        ['c', 50, { ...yearly, month: 2 }],
        ['d', 120, { ...yearly, month: 13, year: 13 }],
      ]),
    ).toEqual({ a: [0, 0], b: [0, 800], c: [500], d: [0, 200] });
  });

  it('from before tenants had months stands alone', () => {
    expect(
      run(free, [
        ['a', 90, { year: null }],
        ['b', 90, { year: null }],
        ['c', 110],
      ]),
    ).toEqual({
      a: [0],
      b: [0],
      c: [0, 100],
    });
  });
});

describe('over any sequence of subscriptions to one plan', () => {
  const sizes = fc.array(
    fc.tuple(
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom('0', '1', '7', '100.25'),
      fc.constantFrom(0, 250),
    ),
    { minLength: 1, maxLength: 4 },
  );
  const lists = fc
    .tuple(sizes, fc.constantFrom<Tier['type']>('graduated', 'volume', 'flat'))
    .map(([parts, type]) => {
      let last = 0;
      return parts.map(([size, unit, amount], at) => {
        last += size;
        return tier(type, at === parts.length - 1 ? -1 : last, type === 'flat' ? '0' : unit, amount);
      });
    });

  it('a month never costs less than with one subscription, and graduated the same to the rounding', () => {
    fc.assert(
      fc.property(lists, fc.array(fc.nat(60), { minLength: 1, maxLength: 8 }), (tiers, quantities) => {
        const owed = run(
          tiers,
          quantities.map((quantity, at): [string, number] => [`${at}.list`, quantity]),
        );
        const charges = Object.values(owed).flat();
        const sum = charges.reduce((all, amount) => all + amount, 0);
        const one = Number(
          priceOf(chargesOf(tiers, new Big(quantities.reduce((all, each) => all + each, 0)))),
        );
        expect(sum).toBeGreaterThanOrEqual(one - (charges.length + tiers.length) / 2);
        if (tiers[0]!.type === 'graduated')
          expect(sum).toBeLessThanOrEqual(one + (charges.length + tiers.length) / 2);
      }),
      { numRuns: 300 },
    );
  });
});
