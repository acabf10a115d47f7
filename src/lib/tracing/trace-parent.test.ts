import { expect, test } from 'vitest';
import { traceParent } from './trace-parent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test.each([
  [`00-${traceId}-${spanId}-01`, 1],
  [`00-${traceId}-${spanId}-00`, 0],
  // A later version may have more fields, and other flags.
  [`01-${traceId}-${spanId}-03-more`, 1],
])('%s names a trace', (header, traceFlags) => {
  expect(traceParent(header)).toEqual({ traceId, spanId, traceFlags, isRemote: true });
});

test.each([
  undefined,
  'nonsense',
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-01more`,
])('%s names none', (header) => {
  expect(traceParent(header)).toBeUndefined();
});
