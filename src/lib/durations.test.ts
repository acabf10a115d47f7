import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from './durations.ts';

test.each([
  ['0', 0, '0s'],
  ['0s', 0, '0s'],
  ['250ms', 250, '250ms'],
  ['1.5s', 1500, '1.5s'],
  ['1s', 1000, '1s'],
  ['90s', 90_000, '1m30s'],
  ['90m', 5_400_000, '1h30m'],
  ['1h0m0s', 3_600_000, '1h'],
  ['720h', 2_592_000_000, '720h'],
  ['87600h', 315_360_000_000, '87600h'],
  ['1h30m', 5_400_000, '1h30m'],
  ['1h0.001s', 3_600_001, '1h1ms'],
  ['1500us', 2, '2ms'],
  ['1500µs', 2, '2ms'],
])('%s is %i ms and written %s', (text, milliseconds, written) => {
  expect(parseDuration(text)).toBe(milliseconds);
  expect(formatDuration(milliseconds)).toBe(written);
});

test.each([
  '',
  '1',
  '-1s',
  '1d',
  '1 h',
  'h',
  '1h ',
  '1.h',
  '.5s',
  '1e3s',
  '1H',
  '1s'.repeat(40),
  '9'.repeat(13) + 's',
  '٣s',
])('%j is no duration and the error names the field', (text) => {
  expect(() => parseDuration(text, 'grace_period')).toThrow(/^grace_period: /);
});

test('what is beyond exact milliseconds is refused', () => {
  expect(() => parseDuration('999999999999h')).toThrow('duration: is too long');
});

test('every duration is read back as it was written', () => {
  fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms % 3e15)) === ms % 3e15));
});
