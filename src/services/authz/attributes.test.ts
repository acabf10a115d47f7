import { expect, it } from 'vitest';
import { checkAttributes } from './attributes.ts';

const nested = (levels: number): object => (levels === 1 ? { a: 1 } : { a: nested(levels - 1) });
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));

it.each([
  ['nothing', {}],
  ['8 levels', nested(8)],
  ['256 keys', keys(256)],
  ['16 KiB', { a: 'x'.repeat(16_384 - '{"a":""}'.length) }],
  ['names of prototypes', JSON.parse('{"__proto__":{"constructor":1}}') as object],
])('takes %s', (_, attributes) => {
  expect(() => checkAttributes(attributes, 'context')).not.toThrow();
});

it.each([
  ['9 levels', nested(9), 'context: nested deeper than 8 levels'],
  ['9 levels of arrays', { a: [[[[[[[[1]]]]]]]] }, 'context: nested deeper than 8 levels'],
  ['257 keys', keys(257), 'context: more than 256 keys'],
  ['257 keys in all', { a: keys(200), b: keys(55) }, 'context: more than 256 keys'],
  ['more than 16 KiB', { a: 'x'.repeat(16_384) }, 'context: larger than 16 KiB'],
  ['more than 16 KiB of UTF-8', { a: 'é'.repeat(8_192) }, 'context: larger than 16 KiB'],
  ['a million levels', deep(1_000_000), 'context: nested deeper than 8 levels'],
])('refuses %s', (_, attributes, message) => {
  expect(() => checkAttributes(attributes, 'context')).toThrow(message);
});

function deep(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}
