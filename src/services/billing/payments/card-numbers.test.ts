import { expect, it } from 'vitest';
import { isCardNumber } from './card-numbers.ts';

it.each([
  ['4242424242424242', true],
  ['4242 4242 4242 4242', true],
  ['4242-4242-4242-4242', true],
  ['378282246310005', true],
  ['4222222222222', true],
  ['6304000000000000000', true],
  ['4242424242424241', false],
  ['424242424242', false],
  ['42424242424242424242', false],
  ['tok_4242424242424242', false],
  ['tok_visa', false],
  ['', false],
])('%s: %s', (text, is) => {
  expect(isCardNumber(text)).toBe(is);
});
