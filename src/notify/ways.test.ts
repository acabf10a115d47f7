import { describe, expect, it } from 'vitest';
import { readSettings } from '../lib/settings.ts';
import { messageSettings } from './settings.ts';
import { waysOf } from './ways.ts';

const ways = (env: Record<string, string>, production: boolean) => {
  const prefix = 'PLINTH_AUTH';
  const settings = readSettings(messageSettings(prefix), env);
  const { email, sms } = waysOf(settings, { prefix, production, clock: Date });
  const word = (way: typeof email) => (typeof way === 'object' ? 'driver' : way);
  return [word(email), word(sms)];
};
const smtp = { PLINTH_AUTH_SMTP_URL: 'smtp://127.0.0.1:2525' };
const http = { PLINTH_AUTH_SMS_URL: 'https://sms.example.com' };

describe('by which way messages leave', () => {
  it.each<[name: string, env: Record<string, string>, production: boolean, ways: (string | undefined)[]]>([
    ['nothing is set', {}, false, ['mailbox', 'mailbox']],
    ['nothing is set in production', {}, true, [undefined, undefined]],
    ['URLs are set', { ...smtp, ...http }, false, ['driver', 'driver']],
    ['URLs are set in production', { ...smtp, ...http }, true, ['driver', 'driver']],
    [
      'the mailbox is wanted beside URLs',
      { ...smtp, ...http, PLINTH_AUTH_MAIL: 'outbox', PLINTH_AUTH_SMS: 'outbox' },
      false,
      ['mailbox', 'mailbox'],
    ],
    ['a driver is named', { ...smtp, PLINTH_AUTH_MAIL: 'smtp' }, true, ['driver', undefined]],
  ])('when %s', (_name, env, production, expected) => {
    expect(ways(env, production)).toEqual(expected);
  });

  it.each<[env: Record<string, string>, production: boolean, problem: string]>([
    [{ PLINTH_AUTH_MAIL: 'outbox' }, true, 'PLINTH_AUTH_MAIL must not be outbox in production'],
    [{ PLINTH_AUTH_SMS: 'outbox' }, true, 'PLINTH_AUTH_SMS must not be outbox in production'],
    [{ PLINTH_AUTH_MAIL: 'smtp' }, false, 'PLINTH_AUTH_MAIL is smtp, so PLINTH_AUTH_SMTP_URL must be set'],
    [{ PLINTH_AUTH_SMS: 'http' }, false, 'PLINTH_AUTH_SMS is http, so PLINTH_AUTH_SMS_URL must be set'],
  ])('%j is refused', (env, production, problem) => {
    expect(() => ways(env, production)).toThrow(problem);
  });
});
