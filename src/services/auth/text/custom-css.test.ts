import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestTimeOf, onThisMachine } from '../../../testing/processor-time.ts';
import { problemOfCss, safeCss } from './custom-css.ts';

describe('a style is allowed', () => {
  it.each([
    '',
    '/* nothing */',
    '.button { border-radius: 4px }',
    ':root { --primary: #123456; --font: "Noto Sans", sans-serif }',
    'main { background: linear-gradient(45deg, rgb(0 0 0 / 50%), var(--primary)) !important }',
    'input[type="email"]:focus-visible, a:not(:hover)::before { outline: 2px solid CurrentColor }',
    'h1 { font: 600 1.5rem/1.2 "Noto Sans", sans-serif; letter-spacing: -.01em }',
    '@media (max-width: 30rem) and (prefers-color-scheme: dark) { main { padding: calc(1rem + 2vw) } }',
    '@keyframes fade { from { opacity: 0 } 50% { opacity: .5 } to { opacity: 1 } } main { animation: fade 1s ease-in }',
    'MAIN { COLOR: RED; TRANSFORM: translateX(1px) }',
    'main { color: red; &:hover { color: blue } }',
  ])('%s', (css) => {
    expect(problemOfCss(css)).toBeUndefined();
    expect(problemOfCss(safeCss(css))).toBeUndefined();
    expect(safeCss(safeCss(css))).toBe(safeCss(css));
  });
});

const refused: [css: string, problem: string][] = [
  ['a { background: url(https://e.example) }', 'url() is not allowed'],
  ['a { background: URL("https://e.example") }', 'url() is not allowed'],
  ['a { background: u/**/rl(https://e.example) }', 'cannot be read'],
  ['a { background: image-set("https://e.example" 1x) }', 'image-set() is not allowed'],
  ['a { background: -webkit-image-set("https://e.example" 1x) }', '-webkit-image-set() is not allowed'],
  ['a { background: image("https://e.example") }', 'image() is not allowed'],
  ['a { background: cross-fade("https://e.example", red) }', 'cross-fade() is not allowed'],
  ['a { background: src("https://e.example") }', 'src() is not allowed'],
  ['a { background: paint(x) }', 'paint() is not allowed'],
  ['a { --x: url(https://e.example) }', 'url() is not allowed'],
  ['a { --x: image-set("https://e.example" 1x) }', 'image-set() is not allowed'],
  ['a { --x: { background: url(x) } }', 'cannot be read'],
  ['a { background: var(--x, url(https://e.example)) }', 'url() is not allowed'],
  ['a { background: "https://e.example" }', 'a text in background is not allowed'],
  ['a { cursor: url(x), auto }', 'url() is not allowed'],
  ['a { filter: url(#x) }', 'url() is not allowed'],
  ['a { content: "Your bank" }', 'content is not allowed'],
  ['a { position: fixed }', 'position is not allowed'],
  ['a { z-index: 9 }', 'z-index is not allowed'],
  ['a { behavior: url(x) }', 'behavior is not allowed'],
  ['a { width: expression(alert(1)) }', 'expression() is not allowed'],
  ['a { width: attr(value) }', 'attr() is not allowed'],
  ['@import "https://e.example"', '@import is not allowed'],
  ['@im/**/port "x"', '@im is not allowed'],
  ['@IMPORT url(x);', '@IMPORT is not allowed'],
  ['@font-face { font-family: x; src: url(x) }', '@font-face is not allowed'],
  ['@namespace url(x);', '@namespace is not allowed'],
  ['@charset "utf-8";', '@charset is not allowed'],
  ['@supports (color: red) { a { color: red } }', '@supports is not allowed'],
  ['@media print { @import "x"; }', '@import is not allowed'],
  ['</style><script>', 'must not contain <'],
  ['a { color: \\72 ed }', 'must not contain \\'],
  ['<!-- a { color: red } -->', 'must not contain <'],
  [`${'a{'.repeat(17)}${'}'.repeat(17)}`, 'must not be nested deeper than 16'],
  ['('.repeat(10_000), 'must not be nested deeper than 16'],
];

describe('a style is refused by the name of what is wrong with it', () => {
  it.each(refused)('%s', (css, problem) => expect(problemOfCss(css)).toContain(problem));

  it.each(['a { color: }', 'a { color red }', '} a {', 'a { color: red', '::: { }', '-->'])('%s', (css) => {
    const problem = problemOfCss(css);
    // Browsers close what was left open.
    if (problem !== undefined) expect(problem).toMatch(/cannot be read at line|is not allowed/);
    expect(problemOfCss(safeCss(css))).toBeUndefined();
  });
});

it('of what was stored the allowed part is left', () => {
  expect(safeCss('h1 { color: red; background: url(x); margin: 0 } @import "x"; p { position: fixed }')).toBe(
    'h1{color:red;margin:0}p{}',
  );
  expect(safeCss('h1 { color: red; margin 0; padding: 0 } /* url( */')).toBe('h1{color:red;padding:0}');
  for (const [css] of refused) expect(problemOfCss(safeCss(css))).toBeUndefined();
});

it('whatever is sent, what is left names nothing elsewhere', () => {
  const piece = fc.constantFrom(
    ...[
      'a',
      '{',
      '}',
      '(',
      ')',
      ';',
      ':',
      ' ',
      '/*',
      '*/',
      '"',
      "'",
      '\n',
      ',',
      '@media',
      '@import',
      '--x',
      '!',
    ],
    ...[
      'color',
      'red',
      'background',
      'url(',
      'URL(',
      'image-set(',
      'var(',
      'https://e.example',
      '#a',
      '&',
      '[',
      ']',
      '\0',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const safe = safeCss(pieces.join(''));
      expect(problemOfCss(safe)).toBeUndefined();
      expect(safe).not.toMatch(/url\(|image-set|@import|<|\\/i);
    }),
    { numRuns: 2_000 },
  );
});

it('costs little where nothing can be read', () => {
  const css = 'a{--x:{}}'.repeat(1_130);
  expect(problemOfCss(css)).toBe('cannot be read at line 1, column 7');
  expect(safeCss(css)).toBe('');
  const judge = () => problemOfCss(css);
  expect(bestTimeOf(judge)).toBeLessThan(onThisMachine(50));
});
