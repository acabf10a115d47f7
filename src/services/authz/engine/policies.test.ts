import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import { checkPattern, matches } from './pattern.ts';
import { checkPolicy, parseSubject } from './policies.ts';
import { assignment, check, emptyStore, fullModel, testOptions, policy, role, tuple } from './testing.ts';
import type { Store } from './testing.ts';
import type { PolicyRule } from './types.ts';

const allows = (parts: Partial<PolicyRule>, question: string, store: Partial<Store> = {}) =>
  decide(fullModel(emptyStore({ ...store, policies: [policy('p', parts)] })), check(question), testOptions)
    .answer?.allowed;

describe('patterns', () => {
  test('a pattern matches what the regular expression of the same meaning matches', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\n', '😀', '*'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (pattern, subject) => {
        const regex = pattern
          .split('*')
          .map((part) => part.replaceAll('.', '\\.'))
          .join('[^]*');
        expect(matches(pattern, subject)).toBe(new RegExp(`^${regex}$`).test(subject));
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ['', 'actions[0]: empty'],
    ['*'.repeat(5), 'actions[0]: more than 4 *'],
    ['x'.repeat(257), 'actions[0]: longer than 256'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => checkPattern(text, 'actions[0]')).toThrow(message);
  });
});

describe('subjects', () => {
  test.each([
    ['*', { form: 'any' }],
    ['user:*', { form: 'pattern', kind: 'user', pattern: '*' }],
    ['user:u_*', { form: 'pattern', kind: 'user', pattern: 'u_*' }],
    ['u_*', { form: 'pattern', kind: null, pattern: 'u_*' }],
    ['u_1', { form: 'id', kind: null, id: 'u_1' }],
    ['user:a:b', { form: 'id', kind: 'user', id: 'a:b' }],
    ['role:editor', { form: 'role', slug: 'editor' }],
    ['group:eng#member', { form: 'userset', type: 'group', id: 'eng', relation: 'member' }],
    ['group:a#b#member', { form: 'userset', type: 'group', id: 'a#b', relation: 'member' }],
    ['user:a#1', { form: 'id', kind: 'user', id: 'a#1' }],
    ['user:__proto__', { form: 'id', kind: 'user', id: '__proto__' }],
  ])('%s is %j', (text, matcher) => {
    expect(parseSubject(text, 'subjects[0]')).toEqual(matcher);
  });

  test.each([
    ['role:*', 'subjects[0]: not a role slug'],
    ['role:a#member', 'subjects[0]: not a role slug'],
    ['*:a', 'subjects[0]: not a kind before ":"'],
    ['eng#member', 'subjects[0]: a userset is "type:id#relation"'],
    ['group:*#member', 'subjects[0]: a userset is "type:id#relation"'],
    ['user:', 'subjects[0]: empty'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => checkPolicy(policy('p', { subjects: [text] }))).toThrow(message);
  });

  test.each(['subjects', 'actions', 'resources'] as const)('no %s is refused', (member) => {
    expect(() => checkPolicy(policy('p', { [member]: [] }))).toThrow(`${member}: empty`);
  });

  test('kind, id and pattern match as they say', () => {
    const matching = (subject: string) =>
      ['user:u_1', 'user:x', 'bot:u_1'].map((who) => allows({ subjects: [subject] }, `${who} read document`));
    expect(matching('user:*')).toEqual([true, true, false]);
    expect(matching('user:u_*')).toEqual([true, false, false]);
    expect(matching('u_*')).toEqual([true, false, true]);
    expect(matching('u_1')).toEqual([true, false, true]);
    expect(matching('user:u_1')).toEqual([true, false, false]);
  });

  test('a role matches who holds it or one that inherits from it, in a scope that covers the resource', () => {
    const roles = [role('base'), role('heir', 'base')];
    const store = { roles, assignments: [assignment('user:a', 'heir', 'document:1')] };
    const matching = (slug: string) =>
      ['document:1', 'document:2', 'document'].map((on) =>
        allows({ subjects: [`role:${slug}`] }, `user:a read ${on}`, store),
      );
    expect(matching('base')).toEqual([true, false, false]);
    expect(matching('heir')).toEqual([true, false, false]);
    expect(matching('none')).toEqual([false, false, false]);
  });

  test('a userset matches its members, also on a type-level question', () => {
    const store = {
      tuples: [tuple('group:eng#member@group:core#member'), tuple('group:core#member@user:a')],
    };
    expect(allows({ subjects: ['group:eng#member'] }, 'user:a read document', store)).toBe(true);
    expect(allows({ subjects: ['group:eng#member'] }, 'user:b read document', store)).toBe(false);
  });
});

describe('resources', () => {
  test.each([
    ['document', [true, true, false, true]],
    ['doc*', [true, true, false, true]],
    ['document:*', [true, true, false, true]],
    ['document:1', [true, false, false, false]],
    ['document:a*', [false, true, false, false]],
    ['*:1', [true, false, true, false]],
    ['document:**', [true, true, false, false]],
  ])('%s', (resource, expected) => {
    const questions = ['document:1', 'document:a:b', 'file:1', 'document'];
    expect(questions.map((on) => allows({ resources: [resource] }, `user:a read ${on}`))).toEqual(expected);
  });
});
