import { expect, test } from 'vitest';
import type { Schema } from './contract.ts';
import { exactNumbersOf } from './exact-numbers.ts';

const exact: Schema = { type: 'number', 'x-exact': true };

test.each<[Schema, unknown]>([
  [{ type: 'number' }, null],
  [{ properties: { quantity: exact, share: { type: 'number' } } }, { members: { quantity: true } }],
  [
    { properties: { events: { items: { properties: { quantity: { allOf: [exact] } } } } } },
    { members: { events: { items: { members: { quantity: true } } } } },
  ],
])('of %j are %j', (schema, numbers) => {
  expect(exactNumbersOf({}, schema)).toEqual(numbers);
});
