import { expect, it } from 'vitest';
import { checkChain, mostAncestors } from './role-chains.ts';

const chain = (length: number) => Array.from({ length }, (_, index) => `ancestor${index}`);

it.each([
  [1, 0],
  [mostAncestors, 0],
  [1, mostAncestors - 1],
  [3, 5],
])('%i ancestors above and %i steps below are allowed', (above, below) =>
  expect(() => checkChain('role', chain(above), below)).not.toThrow(),
);

it.each([
  [mostAncestors + 1, 0],
  [1, mostAncestors],
  [4, 5],
])('%i ancestors above and %i steps below are too many', (above, below) =>
  expect(() => checkChain('role', chain(above), below)).toThrow('parent_id: more than 8 ancestors'),
);

it('a role that is among its ancestors is a cycle', () => {
  for (const at of [0, 1, 2]) {
    const ids = chain(3);
    expect(() => checkChain(ids[at]!, ids, 0)).toThrow(
      expect.objectContaining({ message: 'parent_id: cycle', details: { reason: 'role_cycle' } }),
    );
  }
});
