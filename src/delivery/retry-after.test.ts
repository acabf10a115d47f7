import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-11-20T09:30:00Z');

it.each<[string | string[] | undefined, number | undefined]>([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['0', 1_000],
  ['86401', 86_400_000],
  ['9'.repeat(400), 86_400_000],
  ['Fri, 20 Nov 2026 09:32:00 GMT', 120_000],
  ['Fri, 20 Nov 2026 09:00:00 GMT', 1_000],
  ['Fri, 20 Nov 2099 09:00:00 GMT', 86_400_000],
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['soon GMT', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e9', undefined],
  [['1', '2'], undefined],
])('%j asks for %j milliseconds', (header, ms) => expect(retryAfterMs(header, now)).toBe(ms));
