import { describe, expect, test } from 'vitest';
import { pathRouter } from './router.ts';

function routerOf(...templates: string[]) {
  const router = pathRouter<string>();
  for (const template of templates) router.at(template, () => template);
  return (url: string) => {
    const found = router.find(url);
    return typeof found === 'object' ? { target: found.target, params: { ...found.params } } : found;
  };
}

describe('a path leads to', () => {
  const find = routerOf(
    '/keys',
    '/keys/validate',
    '/keys/{keyId}',
    '/keys/{keyId}/rotate',
    '/s/{kind}/{id}/roles',
    '/o/{+key}',
    '/o/{+key}/lock',
    '/o/{+key}/lock/renew',
    '/o/{+key}/enable',
    '/o/match',
    '/.well-known/x',
  );
  test.each([
    ['/keys', '/keys', {}],
    ['/keys?limit=1', '/keys', {}],
    ['/keys/validate', '/keys/validate', {}],
    ['/keys/abc', '/keys/{keyId}', { keyId: 'abc' }],
    ['/keys/validate/rotate', '/keys/{keyId}/rotate', { keyId: 'validate' }],
    ['/s/user/a%2Fb%20c/roles', '/s/{kind}/{id}/roles', { kind: 'user', id: 'a/b c' }],
    ['/s/user/%00/roles', '/s/{kind}/{id}/roles', { kind: 'user', id: '\0' }],
    ['/o/a/b%2Fc', '/o/{+key}', { key: 'a/b/c' }],
    ['/o/a/b/lock', '/o/{+key}/lock', { key: 'a/b' }],
    ['/o/a%2Flock', '/o/{+key}/lock', { key: 'a' }],
    ['/o/lock', '/o/{+key}', { key: 'lock' }],
    ['/o/a/lock/renew', '/o/{+key}/lock/renew', { key: 'a' }],
    ['/o/a/b%2Fc/enable', '/o/{+key}/enable', { key: 'a/b/c' }],
    ['/o/enable', '/o/{+key}', { key: 'enable' }],
    ['/o/match', '/o/match', {}],
    ['/o/match/enable', '/o/{+key}/enable', { key: 'match' }],
    ['/.well-known/x', '/.well-known/x', {}],
  ])('%s', (url, target, params) => {
    expect(find(url)).toEqual({ target, params });
  });

  test.each(['/', '/key', '/keys/', '/KEYS', '/keys/a/b', '/s//x/roles', '/keys//rotate', '//keys'])(
    'nothing: %s',
    (url) => {
      expect(find(url)).toBeUndefined();
    },
  );

  test.each(['/keys/%ff', '/keys/%ed%a0%80', '/keys/%', '/keys/%e0%a4%a', '/keys/a#b'])(
    'no text at all: %s',
    (url) => {
      expect(find(url)).toBe('malformed');
    },
  );

  test('a value of 1,024 characters of three bytes each', () => {
    const id = '語'.repeat(1024);
    expect(find(`/keys/${encodeURIComponent(id)}`)).toEqual({
      target: '/keys/{keyId}',
      params: { keyId: id },
    });
  });
});

test('of several readings the first that suits counts', () => {
  const router = pathRouter<string>();
  for (const template of ['/o/{+key}', '/o/{+key}/lock']) router.at(template, () => template);
  expect(router.find('/o/a/lock', (target) => target === '/o/{+key}')).toEqual({
    target: '/o/{+key}',
    params: { key: 'a/lock' },
  });
  expect(router.find('/o/a/lock', () => false)).toMatchObject({ target: '/o/{+key}/lock' });
});

test('one path with two names for its parameter is refused at the start', () => {
  expect(() => routerOf('/plans/{name}', '/plans/{id}')).toThrow(
    '/plans/{id} and /plans/{name} are the same path',
  );
});

test('the same path gives the same target', () => {
  const router = pathRouter<object>();
  expect(router.at('/a/{b}', () => ({}))).toBe(router.at('/a/{b}', () => ({})));
});
