import { describe, expect, test } from 'vitest';
import { mask, storedHeaders } from './headers.ts';

const none = () => ({});

describe('values', () => {
  test.each([
    ['x-region', false],
    ['Authorization', true],
    ['cookie', true],
    ['X-Api-Key', true],
    ['x-keyboard', true],
    ['my-TOKEN', true],
    ['client_secret', true],
    ['password', true],
    ['x-authorization-of', false],
    ['__proto__', false],
  ])('of %s are secret: %s', (name, secret) => {
    const given = JSON.parse(`{"${name}":"v"}`) as Record<string, string>;
    const { shown, secret: hidden } = storedHeaders(given, none);
    expect(Object.entries(shown)).toEqual([[name, secret ? mask : 'v']]);
    expect(Object.entries(hidden)).toEqual(secret ? [[name, 'v']] : []);
  });

  test('are kept by sending the mask back, in whatever spelling of the name', () => {
    const kept = () => ({ 'X-Token': 'old', Cookie: 'c=1' });
    expect(storedHeaders({ 'x-token': mask, 'x-key': 'new', region: mask }, kept)).toEqual({
      shown: { 'x-token': mask, 'x-key': mask, region: mask },
      secret: { 'x-token': 'old', 'x-key': 'new' },
    });
  });
});

describe('headers are refused', () => {
  test.each([
    ...['host', 'Content-Type', 'content-length', 'transfer-encoding', 'Connection', 'keep-alive', 'te'],
    ...['trailer', 'upgrade', 'expect', 'date', 'User-Agent', 'via', 'proxy-authorization', 'webhook-id'],
    ...['Plinth-Attempt', 'webhook-signature'],
  ])('with the reserved name %s', (name) => {
    expect(() => storedHeaders({ [name]: 'x' }, none)).toThrow(`headers: ${name} is reserved`);
  });

  test.each(['', 'a b', 'a:b', 'x\r\ny', 'ä', 'x'.repeat(65), 'a\0'])('with the name %j', (name) => {
    expect(() => storedHeaders({ [name]: 'x' }, none)).toThrow('headers: a name must be');
  });

  test('that begin like reserved ones are not', () => {
    expect(() =>
      storedHeaders({ hostname: 'x', 'tenant-id': 'x', viaduct: 'x', dates: 'x' }, none),
    ).not.toThrow();
  });

  test('that occur twice, or whose mask stands for nothing', () => {
    expect(() => storedHeaders({ 'x-a': '1', 'X-A': '2' }, none)).toThrow(
      'headers: X-A is given more than once',
    );
    expect(() => storedHeaders({ cookie: mask }, none)).toThrow(
      'headers: cookie has no stored value to keep',
    );
  });
});
