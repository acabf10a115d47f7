import { describe, expect, it } from 'vitest';
import { readSettings } from '../lib/settings.ts';
import {
  askedBy,
  askedByNobody,
  countersOf,
  noticeCounter,
  placeOf,
  type Limited,
} from './message-limits.ts';
import { messageSettings } from './settings.ts';

const mail = (kind: Limited['kind']): Limited => ({ kind, channel: 'email', to: 'ada@example.com' });
const text = (kind: Limited['kind']): Limited => ({ kind, channel: 'sms', to: '+4915112345678' });
const names = (message: Limited, asked = askedBy('user_1', '203.0.113.7')) =>
  countersOf(message, 'app', asked).map(({ name }) => name);
const subjectOf = (message: Limited, name: string, app = 'app') =>
  countersOf(message, app, askedBy('user_1', '203.0.113.7')).find((counted) => counted.name === name)!
    .subject;

describe('what a message is counted by', () => {
  it('is who gets it, who asks, from where, and the app', () => {
    expect(names(mail('invitation'))).toEqual([
      'mailsPerAddress',
      'mailsPerAccount',
      'mailsPerNetwork',
      'mailsPerApp',
    ]);
    expect(names(text('mfa_code'))).toEqual([
      'textsPerNumber',
      'textsPerAccount',
      'textsPerPrefix',
      'textsPerCountry',
      'textsPerNetwork',
      'textsPerApp',
    ]);
  });

  it('is its receiver and the app alone, where nobody is known to ask', () => {
    expect(names(mail('verify_email'), askedByNobody)).toEqual(['mailsPerAddress', 'mailsPerApp']);
  });

  it('of a notice is its address alone: nobody uses up what the owner has to hear', () => {
    expect(noticeCounter(mail('security_notice'), 'app')).toEqual({
      name: 'noticesPerAddress',
      subject: 'app security_notice ada@example.com',
    });
  });

  it('is told apart by kind, but for the texts to one number', () => {
    const kinds = ['reset_password', 'verify_email', 'invitation'] as const;
    for (const name of ['mailsPerAddress', 'mailsPerApp'])
      expect(new Set(kinds.map((kind) => subjectOf(mail(kind), name))).size).toBe(3);
    expect(subjectOf(text('mfa_code'), 'textsPerNumber')).toBe(
      subjectOf(text('phone_code'), 'textsPerNumber'),
    );
    expect(subjectOf(text('mfa_code'), 'textsPerApp')).not.toBe(subjectOf(text('phone_code'), 'textsPerApp'));
    expect(subjectOf(text('mfa_code'), 'textsPerApp')).not.toBe(
      subjectOf(text('mfa_code'), 'textsPerApp', 'b'),
    );
  });

  it.each([
    ['+4915112345678', '+49', '+49151'],
    ['+14155550123', '+1', '+1415'],
    ['+37120000000', '+371', '+371200'],
    ['+2250707123456', '+225', '+225070'],
  ])('of the number %s the country is %s and the prefix %s', (number, country, prefix) => {
    expect(placeOf(number)).toEqual({ country, prefix });
  });
});

describe('unless they are set', () => {
  const standard = readSettings(messageSettings('PLINTH_AUTH'), {});
  const counters = [
    ...names(text('mfa_code')),
    ...names(mail('invitation')),
    noticeCounter(mail('security_notice'), 'app').name,
  ];

  it('all limits are on: those by place and by app bound what many accounts cost together', () => {
    const off = counters.filter((name) => standard[name].length === 0);
    expect(off).toEqual([]);
    expect(new Set(counters)).toEqual(
      new Set(Object.keys(standard).filter((name) => /^(texts|mails|notices)Per/.test(name))),
    );
  });
});

describe('a limit', () => {
  const read = (value: string) =>
    readSettings(messageSettings('PLINTH_AUTH'), { PLINTH_AUTH_TEXTS_PER_NUMBER: value }).textsPerNumber;

  it('is counts in windows, or none', () => {
    expect(read('')).toEqual([
      { most: 3, windowMs: 600_000 },
      { most: 10, windowMs: 86_400_000 },
    ]);
    expect(read('1/1m')).toEqual([{ most: 1, windowMs: 60_000 }]);
    expect(read('off')).toEqual([]);
  });

  it.each([
    '0',
    '3',
    '3/',
    '/10m',
    '0/10m',
    '3/1s',
    '3/721h',
    '1000001/1h',
    '3/10m;4/1h',
    '1/1m,1/2m,1/3m,1/4m,1/5m',
  ])('is not %j', (value) => {
    expect(() => read(value)).toThrow(
      'PLINTH_AUTH_TEXTS_PER_NUMBER must be off, or at most 4 like 3/10m,10/24h',
    );
  });
});
