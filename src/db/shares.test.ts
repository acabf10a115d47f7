import { expect, it } from 'vitest';
import { sharesOf } from './server.ts';

it.each([
  [8, { statements: 1, transactions: 2, background: 2 }],
  [10, { statements: 2, transactions: 3, background: 2 }],
  [20, { statements: 6, transactions: 8, background: 3 }],
  [103, { statements: 43, transactions: 54, background: 3 }],
])('%i connections are shared out', (connections, shares) => {
  expect(sharesOf(connections)).toEqual(shares);
});
