import fc from 'fast-check';
import { expect, it } from 'vitest';
import { slugOf } from './role-slug.ts';

const id = 'role_01m7w4n5e0f7drekxj50y51wjg';

it.each([
  ['Editor', 'editor'],
  ['Billing & Invoices!', 'billing-invoices'],
  ['v1.2_beta', 'v1.2_beta'],
  ['--a--', 'a'],
  [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
  ['日本', '01m7w4n5e0f7drekxj50y51wjg'],
])('makes %j into %j', (name, slug) => {
  expect(slugOf(name, id)).toBe(slug);
});

it('always makes a slug that the contract takes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 128 }), (name) =>
      /^[a-z0-9][a-z0-9_.-]{0,62}$/.test(slugOf(name, id)),
    ),
  );
});
