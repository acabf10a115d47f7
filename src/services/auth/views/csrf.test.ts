import { describe, expect, test } from 'vitest';
import { createSealer } from '../../../lib/seal.ts';
import { createCsrf } from './csrf.ts';

const master = Buffer.alloc(32, 7);
const scope = { path: '/auth', secure: true };
const csrf = createCsrf(createSealer(master), scope);
const shown = csrf.issue(undefined, 'one');
const cookie = shown.cookies[0]!.split(';')[0]!;

test('a browser that has the cookie keeps it, and a page of the same subject stays good', () => {
  const again = csrf.issue(cookie, 'one');
  expect(again).toEqual({ csrf: shown.csrf, cookies: [] });
  expect(() => csrf.check(cookie, 'one', shown.csrf)).not.toThrow();
});

describe('a form is refused', () => {
  test.each<[string, string | undefined, string, string]>([
    ['about something else', cookie, 'other', shown.csrf],
    ['without the cookie', undefined, 'one', shown.csrf],
    ['with the cookie of another browser', csrf.issue(undefined, 'one').cookies[0], 'one', shown.csrf],
    ['with a cookie that is none of ours', 'plinth_pages=x', 'one', shown.csrf],
    ['that carries nothing', cookie, 'one', ''],
    ['that carries something of the same length', cookie, 'one', 'é'.repeat(shown.csrf.length)],
  ])('%s', (_, header, subject, given) => {
    expect(() => csrf.check(header, subject, given)).toThrow('csrf: does not belong to this page');
  });
});

test('a page shown before the master key was replaced stays good as long as the previous one is known', () => {
  const next = Buffer.alloc(32, 8);
  const knowing = createCsrf(createSealer(next, master), scope);
  expect(() => knowing.check(cookie, 'one', shown.csrf)).not.toThrow();
  expect(() => createCsrf(createSealer(next), scope).check(cookie, 'one', shown.csrf)).toThrow('csrf');
});

test('a cookie of ours that nobody was given is replaced', () => {
  expect(csrf.issue('plinth_pages=short', 'one').cookies).toHaveLength(1);
});
