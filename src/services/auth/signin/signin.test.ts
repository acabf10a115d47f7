import { expect, it } from 'vitest';
import { challengeMethods } from './signin.ts';

it.each<[Parameters<typeof challengeMethods>, string[]]>([
  [['password', [], false], []],
  [['password', [], true], []],
  [
    ['password', ['totp'], true],
    ['totp', 'recovery'],
  ],
  [
    ['password', ['totp', 'sms'], true],
    ['totp', 'sms', 'recovery'],
  ],
  [['password', ['sms'], false], ['sms']],
  [['phone', ['sms'], true], []],
  [
    ['phone', ['totp', 'sms'], true],
    ['totp', 'recovery'],
  ],
])('%j is challenged for %j', (signin, methods) => {
  expect(challengeMethods(...signin)).toEqual(methods);
});
