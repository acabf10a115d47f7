import { expect, it } from 'vitest';
import { maskedPhone } from './masked-phones.ts';

it.each([
  ['+4930901820', '+49*****1820'],
  ['+12015550123', '+1*****0123'],
  ['+442079460958', '+44*****0958'],
])('%s is shown as %s', (phone, masked) => {
  expect(maskedPhone(phone)).toBe(masked);
});
