import { expect, test } from 'vitest';
import { bestTimeOf, onThisMachine } from '../../../testing/processor-time.ts';
import { describeDevice } from './device-names.ts';

test('a device has the names that its User-Agent tells, whatever is sent after them', () => {
  const userAgent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
  const known = { name: 'Chrome on Linux', type: 'desktop', browser: 'Chrome', os: 'Linux' };
  expect(describeDevice(userAgent)).toEqual(known);
  expect(describeDevice(`${userAgent}${' '.repeat(500)}Edg/1.0`)).toEqual(known);
  expect(describeDevice(null)).toEqual({
    name: 'Unknown device',
    type: 'unknown',
    browser: null,
    os: null,
  });
});

test('a User-Agent as long as headers may be takes no longer than one that is real', () => {
  for (const [start, more] of [
    ['Mozilla/5.0 (Linux; Android 10; ', '1.'],
    ['Mozilla/5.0 (', 'Mozilla/5.0 ('],
    ['Opera/', '; '],
  ] as const) {
    const sent = (start + more.repeat(15_000)).slice(0, 15_000);
    const describe = () => describeDevice(sent);
    expect(bestTimeOf(describe)).toBeLessThan(onThisMachine(10));
  }
});
