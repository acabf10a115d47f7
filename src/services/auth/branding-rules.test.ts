import { expect, it } from 'vitest';
import { forbiddenInCss, isFontFamily } from './branding-rules.ts';

it.each([
  ['', undefined],
  ['.button { border-radius: 4px }', undefined],
  ['body { background: url(https://x) }', 'url('],
  ['body { background: URL (x) }', undefined],
  ['@IMPORT "x"', '@import'],
  ['@im/**/port "x"', '@import'],
  ['a { width: expression(1) }', 'expression'],
  ['a { content: "\\61" }', '\\'],
  ['</style><script>', '<'],
  ['u/* never closed */rl(x)', 'url('],
])('%s: %s', (css, found) => expect(forbiddenInCss(css)).toBe(found));

it.each([
  ['system-ui, sans-serif', true],
  ['"Noto Sans", Arial', true],
  ['x; } body { display: none', false],
  ['x</style>', false],
])('%s as a font: %s', (text, ok) => expect(isFontFamily(text)).toBe(ok));
