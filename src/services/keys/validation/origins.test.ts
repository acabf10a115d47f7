import { describe, expect, it } from 'vitest';
import { compileOrigins, normalizeOriginRule } from './origins.ts';

const matches = (rules: string[], origin: string) =>
  compileOrigins(rules.map((rule) => normalizeOriginRule(rule, 'allowed_origins')))(origin);

describe('a stored origin', () => {
  it.each([
    ['https://app.example.com', 'https://app.example.com'],
    ['HTTPS://App.Example.COM', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['http://app.example.com:80', 'http://app.example.com'],
    ['http://app.example.com:443', 'http://app.example.com:443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://*.Bücher.example:8443', 'https://*.xn--bcher-kva.example:8443'],
    ['https://*.example.com', 'https://*.example.com'],
    ['http://[2001:DB8::1]:8080', 'http://[2001:db8::1]:8080'],
    ['chrome-extension://abcdefghijklmnop', 'chrome-extension://abcdefghijklmnop'],
    ['app://localhost:80', 'app://localhost:80'],
    ['*', '*'],
  ])('of %s is %s', (text, stored) => {
    expect(normalizeOriginRule(text, 'allowed_origins')).toBe(stored);
    expect(normalizeOriginRule(stored, 'allowed_origins')).toBe(stored);
  });

  it.each([
    '',
    'null',
    'example.com',
    'https://',
    'https://*',
    'https://*.',
    'https://a.*.example.com',
    'https://*.*.example.com',
    'https://user@example.com',
    'https://user:pw@example.com',
    'https://example.com/',
    'https://example.com/path',
    'https://example.com?x',
    'https://example.com#x',
    'https://exa mple.com',
    'https://example.com:99999',
    'https://example.com\\evil',
    '**',
  ])('cannot be made of %j: the error names the field', (text) => {
    expect(() => normalizeOriginRule(text, 'allowed_origins')).toThrow(/^allowed_origins: /);
  });
});

describe('matching', () => {
  it.each([
    [['https://app.example.com'], 'https://app.example.com', true],
    [['https://app.example.com'], 'https://APP.example.com:443', true],
    [['https://app.example.com'], 'http://app.example.com', false],
    [['https://app.example.com'], 'https://app.example.com:8443', false],
    [['https://app.example.com'], 'https://app.example.com.evil.test', false],
    [['https://bücher.example'], 'https://xn--bcher-kva.example', true],
    [['https://*.example.com'], 'https://a.example.com', true],
    [['https://*.example.com'], 'https://a.b.example.com', true],
    [['https://*.example.com'], 'https://example.com', false],
    [['https://*.example.com'], 'https://.example.com', false],
    [['https://*.example.com'], 'https://evil-example.com', false],
    [['https://*.example.com'], 'http://a.example.com', false],
    [['https://*.example.com'], 'https://a.example.com:444', false],
    [['https://*.example.com:444'], 'https://a.example.com:444', true],
    [['https://example.com'], 'https://evil-example.com', false],
    [['https://example.com'], 'https://example.com@evil.test', false],
    [['https://example.com'], 'https://user@example.com', false],
    [['https://example.com'], 'null', false],
    [['https://*.example.com'], 'null', false],
    [['https://example.com'], 'example.com', false],
    [['*'], 'null', true],
    [['*'], 'https://anything.test', true],
    [['*'], 'not an origin', true],
  ])('%j admits %s: %s', (rules, origin, admitted) => {
    expect(matches(rules, origin)).toBe(admitted);
  });
});
