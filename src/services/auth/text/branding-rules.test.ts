import { expect, it } from 'vitest';
import { isFontFamily } from './branding-rules.ts';

it.each([
  ['system-ui, sans-serif', true],
  ['"Noto Sans", Arial', true],
  ["'Noto Sans', Arial", true],
  ['"Noto Sans, Arial', false],
  ['"Noto\' Sans", Arial', false],
  ['x; } body { display: none', false],
  ['x</style>', false],
  [' '.repeat(100_000), true],
])('%s as a font: %s', (text, ok) => expect(isFontFamily(text)).toBe(ok));
