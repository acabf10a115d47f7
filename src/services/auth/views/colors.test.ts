import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contrast, isDark, mixed, palette, readableOn } from './colors.ts';

test.each([
  ['#000000', '#ffffff', 21],
  ['#777777', '#ffffff', 4.48],
  ['#123456', '#123456', 1],
])('the contrast of %s and %s is %d', (one, other, want) => {
  expect(contrast(one, other)).toBeCloseTo(want, 2);
  expect(contrast(other, one)).toBe(contrast(one, other));
});

test('the wanted colour is taken only where it can be read', () => {
  expect(readableOn('#ffffff', '#7c3aed')).toBe('#7c3aed');
  expect(readableOn('#ffffff', '#ffff00')).toBe('#18181b');
  expect(readableOn('#18181b')).toBe('#ffffff');
});

test('dark is what white stands out from', () => {
  expect(['#000000', '#0b1220', '#808080', '#ffffff'].map(isDark)).toEqual([true, true, false, false]);
});

test('colours mix by share', () => {
  expect(mixed('#ffffff', 0.5, '#000000')).toBe('#808080');
});

describe('whatever a brand chooses', () => {
  const color = fc
    .integer({ min: 0, max: 0xffffff })
    .map((value) => `#${value.toString(16).padStart(6, '0')}`);

  test('texts can be read and controls be seen', () => {
    fc.assert(
      fc.property(color, color, color, (primary_color, background_color, accent_color) => {
        const { ground, primary, ...colors } = palette({ primary_color, background_color, accent_color });
        for (const name of ['text', 'muted', 'link', 'danger', 'done'] as const)
          expect([name, contrast(colors[name], ground) >= 4.5]).toEqual([name, true]);
        for (const name of ['field', 'primary-line', 'focus'] as const)
          expect([name, contrast(colors[name], ground) >= 3]).toEqual([name, true]);
        expect(contrast(colors['on-primary'], primary)).toBeGreaterThanOrEqual(4.5);
      }),
      { numRuns: 2_000 },
    );
  });
});
