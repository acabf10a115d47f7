import { expect, test } from 'vitest';
import { markup } from '../../../http/html.ts';
import { formActionSource, renderPage } from './layout.ts';
import { plainLook } from './look.ts';

test.each([
  ['https://reports.example.com/callback?a=1', 'https://reports.example.com'],
  ['http://127.0.0.1:9000/callback', 'http://127.0.0.1:9000'],
  ['http://[::1]:9000/callback', 'http://[::1]:9000'],
  ['com.example.reports:/callback', 'com.example.reports:'],
  ["https://a;script-src'self'/callback", undefined],
])('after %s forms may lead to %s', (redirectUri, source) => {
  expect(formActionSource(redirectUri)).toBe(source);
});

test('what a brand adds cannot end the style', () => {
  const look = { ...plainLook('App'), custom_css: '</style><script>alert(1)</script>' };
  const { body } = renderPage({ title: 'Page', body: markup`<h1>Page</h1>` }, look);
  expect(body).not.toContain('<script');
  expect(body.match(/<\/style/g)).toHaveLength(1);
});
