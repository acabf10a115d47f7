import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BrandColors,
  contrast,
  isDark,
  mixed,
  palette,
  readableOn,
  schemesOf,
  shaded,
} from './colors.ts';

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

test('a shade keeps the colour as far as the contrast allows', () => {
  expect(shaded('#7c3aed', '#ffffff', 4.5)).toBe('#7c3aed');
  expect(shaded('#ffff00', '#ffffff', 4.5)).toMatch(/^#([0-9a-f]{2})\1(00)$/);
  expect(contrast(shaded('#000000', '#808080', 4.5), '#808080')).toBeGreaterThanOrEqual(4.5);
});

test('a brand keeps its colours where its background suits, and its hue elsewhere', () => {
  const brand = { primary_color: '#0f766e', background_color: '#fffbeb', accent_color: '#0f766e' };
  const { light, dark } = schemesOf(brand);
  expect(light).toEqual(brand);
  expect(isDark(dark.background_color)).toBe(true);
  const ink = { ...brand, primary_color: '#18181b' };
  expect(schemesOf(ink).dark.primary_color).toBe('#f4f4f5');
});

/** Every text can be read and every control be seen. */
function expectReadable(brand: BrandColors): void {
  const { ground, primary, ...colors } = palette(brand);
  for (const name of ['text', 'muted', 'link', 'danger', 'done'] as const)
    expect([name, contrast(colors[name], ground) >= 4.5]).toEqual([name, true]);
  for (const name of ['field', 'primary-line', 'focus'] as const)
    expect([name, contrast(colors[name], ground) >= 3]).toEqual([name, true]);
  for (const [name, on] of [
    ['on-primary', primary],
    ['on-primary', colors['primary-hover']],
    ['on-danger-ground', colors['danger-ground']],
    ['on-done-ground', colors['done-ground']],
  ] as const)
    expect([name, contrast(colors[name], on) >= 4.5]).toEqual([name, true]);
}

describe('whatever a brand chooses', () => {
  const color = fc
    .integer({ min: 0, max: 0xffffff })
    .map((value) => `#${value.toString(16).padStart(6, '0')}`);

  test('texts can be read and controls be seen', () => {
    fc.assert(
      fc.property(color, color, color, (primary_color, background_color, accent_color) => {
        const { light, dark } = schemesOf({ primary_color, background_color, accent_color });
        expectReadable(light);
        expectReadable(dark);
        expect([isDark(light.background_color), isDark(dark.background_color)]).toEqual([false, true]);
      }),
      { numRuns: 2_000 },
    );
  });
});
