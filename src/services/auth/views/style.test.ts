import { expect, test } from 'vitest';
import { plainLook } from '../look/look.ts';
import { styleOf } from './style.ts';

const darkOnly = /@media \(prefers-color-scheme: dark\)/;
test.each([
  ['system', ['light', 'dark'], true],
  ['light', ['light'], false],
  ['dark', ['dark'], false],
] as const)('the scheme %s has colours for: %j', (color_scheme, schemes, asksSystem) => {
  const style = styleOf({ ...plainLook('App'), color_scheme });
  expect([...style.matchAll(/color-scheme: (light|dark);/g)].map(([, name]) => name)).toEqual(schemes);
  expect(darkOnly.test(style)).toBe(asksSystem);
});

test('a logo keeps the background that it was made for', () => {
  const style = styleOf({ ...plainLook('App'), background_color: '#fffbeb' });
  const [light = '', dark = ''] = style.split(darkOnly);
  expect(light).not.toContain('header img { padding');
  expect(dark).toContain('background: #fffbeb');
});
