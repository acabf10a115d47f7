import { expect, test } from 'vitest';
import { scopeList } from './scopes.ts';

const shown = (scope: string) =>
  /<li><svg.*?<\/svg><span>(.*)<\/span><\/li>/.exec(String(scopeList([scope])))?.[1];

test.each([
  ['email', 'See your email address'],
  ['*', 'Do everything that you may do'],
  ['reports:read', 'See reports <code>reports:read</code>'],
  ['sales_reports:write', 'See and change sales reports <code>sales_reports:write</code>'],
  ['reports:*', 'See, change and manage reports <code>reports:*</code>'],
  ['documents:sign_off', 'Use “sign off” on documents <code>documents:sign_off</code>'],
  ['legacy', 'Use the permission <code>legacy</code>'],
  ['x:<b>', 'Use “&lt;b&gt;” on x <code>x:&lt;b&gt;</code>'],
])('%s is said in plain words', (scope, words) => {
  expect(shown(scope)).toBe(words);
});
