import { expect, test } from 'vitest';
import { inReadingOrder } from './reading-order.ts';

const documentOf = (...names: string[]) =>
  JSON.stringify({ tags: names.map((name) => ({ name })), paths: {} });

test('resources stand in the order in which a user meets them, and all else stays', () => {
  const text = inReadingOrder('Keys', documentOf('Usage', 'Scopes', 'Keys', 'Policies'));
  expect(JSON.parse(text)).toEqual(JSON.parse(documentOf('Keys', 'Policies', 'Scopes', 'Usage')));
});

test('a resource without a place is named', () => {
  expect(() => inReadingOrder('Keys', documentOf('Keys', 'Vaults'))).toThrow('Keys has no place for Vaults');
});
