import { describe, expect, test } from 'vitest';
import { parseExpression } from './expression.ts';
import type { Expression } from './expression.ts';
import { checkResourceType } from './type-graph.ts';
import type { ResourceTypeRule } from './types.ts';

/** Formats an expression in prefix form. */
function prefix(expression: Expression): string {
  switch (expression.op) {
    case 'this':
      return 'this';
    case 'name':
      return expression.name;
    case 'arrow':
      return `${expression.relation}->${expression.name}`;
    default:
      return `(${expression.op} ${expression.terms.map(prefix).join(' ')})`;
  }
}

describe('the grammar', () => {
  test.each([
    ['this', 'this'],
    ['a', 'a'],
    ['a-b', 'a-b'],
    ['a->b', 'a->b'],
    ['a -> b', 'a->b'],
    ['a + b + c', '(union a b c)'],
    ['a & b', '(intersection a b)'],
    ['a - b - c', '(exclusion a b c)'],
    ['(a + b->c) - d-e', '(exclusion (union a b->c) d-e)'],
    ['((a))', 'a'],
    ['  a  +  this ', '(union a this)'],
  ])('%s is %s', (text, form) => {
    expect(prefix(parseExpression(text, 'expression'))).toBe(form);
  });

  test.each([
    ['', 'expected a name at 1'],
    ['a + ', 'expected a name at 5'],
    ['a +', '"+" needs spaces around it at 3'],
    ['a+ b', '"+" needs spaces around it at 2'],
    ['a -b', '"-" needs spaces around it at 3'],
    ['a + b - c', '"+" and "-" need parentheses at 7'],
    ['(a', 'expected ")" at 3'],
    ['a b', 'unexpected "b" at 3'],
    ['a)', 'unexpected ")" at 2'],
    ['9a', 'expected a name at 1'],
    ['this->a', '"->" needs a relation on its left at 1'],
    ['a->(b)', 'expected a name at 4'],
    [Array(65).fill('a').join(' + '), 'more than 64 terms at 257'],
    [`${'('.repeat(17)}a${')'.repeat(17)}`, 'nested deeper than 16 at 17'],
    ['a'.repeat(1_001), 'longer than 1000'],
  ])('%s is refused: %s', (text, problem) => {
    expect(() => parseExpression(text, 'permissions[0].expression')).toThrow(
      `permissions[0].expression: ${problem}`,
    );
  });
});

const type = (
  name: string,
  relations: Record<string, [string[], string?]>,
  permissions: Record<string, string> = {},
): ResourceTypeRule => ({
  id: `rtype_${name}`,
  name,
  relations: Object.entries(relations).map(([relation, [subjects, expression]]) => ({
    name: relation,
    subjects,
    ...(expression !== undefined && { expression }),
  })),
  permissions: Object.entries(permissions).map(([permission, expression]) => ({
    name: permission,
    expression,
  })),
});

describe('a resource type', () => {
  test.each([
    [type('t', { r: [['user']] }, { p: 'r + x' }), 'permissions[0].expression: unknown name "x" at 5'],
    [type('t', { r: [['user'], 'x->r'] }), 'relations[0].expression: unknown name "x" at 1'],
    [
      type('t', { r: [['user']] }, { p: 'r', q: 'p->r' }),
      'permissions[1].expression: "p" is not a relation at 1',
    ],
    [type('t', { r: [['user']] }, { p: 'this' }), 'permissions[0].expression: "this" is for relations'],
    [
      type('t', { r: [['user:x']] }),
      'relations[0].subjects[0]: expected "type", "type:*" or "type#relation"',
    ],
    [type('t', { r: [['user']] }, { r: 'r' }), 'permissions[0].name: "r" is used twice'],
    [type('t', { this: [['user']] }), 'relations[0].name: "this" is reserved'],
    [type('t', { 'r-': [['user']] }), 'relations[0].name: not a relation name'],
  ])('%j is refused: %s', (wrong, message) => {
    expect(() => checkResourceType(wrong, [])).toThrow(message);
  });

  test('prototype names are names like any other', () => {
    const named = (name: string, expression: string): ResourceTypeRule => ({
      ...type('constructor', {}, { p: expression }),
      relations: [{ name, subjects: ['user'] }],
    });
    expect(() => checkResourceType(named('__proto__', 'toString'), [])).toThrow(
      'unknown name "toString" at 1',
    );
    expect(() => checkResourceType(named('__proto__', '__proto__'), [])).not.toThrow();
    expect(() => checkResourceType(named('constructor', 'constructor->valueOf'), [])).not.toThrow();
  });
});

describe('exclusion in a cycle', () => {
  test('is refused within a type, with the way round', () => {
    const wrong = type('document', { viewer: [['user']] }, { read: 'viewer - banned', banned: 'read' });
    expect(() => checkResourceType(wrong, [])).toThrow(
      'exclusion in a cycle: document#read -> document#banned -> document#read',
    );
  });

  test('is refused through usersets and arrows of other types', () => {
    const group = type('group', { member: [['user', 'document#read']] });
    const document = type(
      'document',
      { viewer: [['user']], banned: [['group#member']] },
      { read: 'viewer - banned' },
    );
    expect(() => checkResourceType(document, [group])).toThrow(
      'exclusion in a cycle: document#read -> document#banned -> group#member -> document#read',
    );
    const folder = type('folder', { item: [['file']] }, { hidden: 'item->shown' });
    const file = type('file', { in: [['folder']] }, { shown: 'in - in->hidden' });
    expect(() => checkResourceType(file, [folder])).toThrow(
      'exclusion in a cycle: file#shown -> folder#hidden -> file#shown',
    );
  });

  test('is judged against the new form of the type, not the old one', () => {
    const before = type('document', { viewer: [['user', 'group#member']] }, { read: 'viewer' });
    const group = type(
      'group',
      { member: [['user']], owner: [['document#read']] },
      { active: 'member - owner' },
    );
    expect(() => checkResourceType(group, [before])).not.toThrow();
    const after = type('document', { viewer: [['user', 'group#active']] }, { read: 'viewer' });
    expect(() => checkResourceType(after, [before, group])).toThrow('exclusion in a cycle');
  });

  test('a cycle without exclusion and an exclusion without a cycle are fine', () => {
    const group = type(
      'group',
      { member: [['user', 'group#member']], banned: [['user']] },
      { active: 'member - banned' },
    );
    expect(() => checkResourceType(group, [])).not.toThrow();
  });
});
