import { expect, it } from 'vitest';
import { usesOf } from './set-off.ts';

const open = [
  { id: 'old', due: 10n },
  { id: 'new', due: 10n },
];
const uses = (amount: bigint, ...returns: { invoiceId: string; total: bigint }[]) => [
  ...usesOf(open, { amount, returns }),
];

const cases: readonly [
  why: string,
  amount: bigint,
  invoiceId: string,
  total: bigint,
  expected: [string, bigint][],
][] = [
  ['first the charges that it gives back', 4n, 'new', 4n, [['new', 4n]]],
  [
    'then what is open besides, oldest first',
    8n,
    'new',
    4n,
    [
      ['new', 4n],
      ['old', 4n],
    ],
  ],
  [
    'no more than there is to pay',
    30n,
    'new',
    20n,
    [
      ['new', 10n],
      ['old', 10n],
    ],
  ],
  ['no more than it is', 3n, 'new', 8n, [['new', 3n]]],
  ['the oldest, when what it gives back is paid', 5n, 'paid', 5n, [['old', 5n]]],
];

it.each(cases)('credit pays %s', (_, amount, invoiceId, total, expected) => {
  expect(uses(amount, { invoiceId, total })).toEqual(expected);
});
