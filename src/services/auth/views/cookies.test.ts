import { expect, test } from 'vitest';
import { clearCookie, cookieOf, setCookie } from './cookies.ts';

test.each([
  ['a=1; b=2', 'b', '2'],
  ['a=1;b=2', 'a', '1'],
  ['ab=1', 'a', undefined],
  ['a=1=2', 'a', '1=2'],
  ['', 'a', undefined],
  [undefined, 'a', undefined],
])('of %j the cookie %s is %j', (header, name, value) => {
  expect(cookieOf(header, name)).toBe(value);
});

test('a cookie is for its path, for this site, and no script', () => {
  const scope = { path: '/x', secure: false };
  expect(setCookie({ ...scope, name: 'a', value: '1' })).toBe('a=1; Path=/x; HttpOnly; SameSite=Lax');
  expect(setCookie({ path: '/', secure: true, name: 'a', value: '1', maxAgeSeconds: 60 })).toBe(
    'a=1; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=60',
  );
  expect(clearCookie('a', scope)).toBe('a=; Path=/x; HttpOnly; SameSite=Lax; Max-Age=0');
});
