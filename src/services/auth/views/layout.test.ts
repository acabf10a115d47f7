import { expect, test } from 'vitest';
import { markup } from '../../../http/html.ts';
import { formActionSource, renderPage } from './layout.ts';
import { plainLook } from '../look/look.ts';

test.each([
  ['https://reports.example.com/callback?a=1', 'https://reports.example.com'],
  ['http://127.0.0.1:9000/callback', 'http://127.0.0.1:9000'],
  ['http://[::1]:9000/callback', 'http://[::1]:9000'],
  ['com.example.reports:/callback', 'com.example.reports:'],
  ["https://a;script-src'self'/callback", undefined],
])('after %s forms may lead to %s', (redirectUri, source) => {
  expect(formActionSource(redirectUri)).toBe(source);
});

test.each([
  [null, "img-src 'self' data:"],
  ['https://cdn.example.com:8443/a/logo.svg?x=1', "img-src 'self' data: https://cdn.example.com:8443"],
  ['https://*.example.com/logo.svg', "img-src 'self' data:"],
  ["https://a'unsafe-inline'/logo.svg", "img-src 'self' data:"],
  ['javascript:alert(1)', "img-src 'self' data:"],
  ['no address', "img-src 'self' data:"],
])('with the logo %s the page loads pictures from: %s', (logo_url, expected) => {
  const { headers, body } = renderPage({ title: 'Page', body: markup`` }, { ...plainLook('App'), logo_url });
  expect(headers['Content-Security-Policy']!.split('; ')).toContain(expected);
  expect(body.includes('<img')).toBe(expected.includes('https:'));
});

test('what was stored before a rule came is cut down to it', () => {
  const custom_css =
    'h1 { color: red; background: image-set("https://e.example/x" 1x) } @font-face { src: url(x) }';
  const { body } = renderPage({ title: 'Page', body: markup`` }, { ...plainLook('App'), custom_css });
  expect(body).toContain('h1{color:red}');
  expect(body).not.toContain('image-set');
  expect(body).not.toContain('font-face');
});

test('what a brand adds cannot end the style', () => {
  const look = { ...plainLook('App'), custom_css: '</style><script>alert(1)</script>' };
  const { body } = renderPage({ title: 'Page', body: markup`<h1>Page</h1>` }, look);
  expect(body).not.toContain('<script');
  expect(body.match(/<\/style/g)).toHaveLength(1);
});
