import { describe, expect, test } from 'vitest';
import { checkConditions, compileCondition } from './conditions.ts';
import { situationOf } from './fields.ts';
import { check, testNow } from './testing.ts';
import type { Attributes, CheckInput, Condition } from './types.ts';

const holds = (condition: Condition, context: Attributes, parts: Partial<CheckInput> = {}) =>
  compileCondition(condition)(
    situationOf({ input: check('user:u-1 read document:d-1', { context, ...parts }), now: testNow }),
  );

/** Each operator holds for a match. It is false for another value, a missing field and a wrong type, unless it is a negation. */
const operators: [operator: string, value: unknown, match: unknown, other: unknown, wrongType: unknown][] = [
  ['eq', { a: [1, null] }, { a: [1, null] }, { a: [1] }, 'text'],
  ['eq', 1, 1, 2, '1'],
  ['in', ['a', 'b', { c: 1 }], 'b', 'c', 7],
  ['in', ['a', 'b'], ['x', 'a'], ['x'], { a: 1 }],
  ['in', [{ c: 1 }], { c: 1 }, { c: 2 }, null],
  ['contains', 'ell', 'hello', 'world', 7],
  ['contains', 2, [1, 2], [1, '2'], 2],
  ['starts_with', 'he', 'hello', 'world', ['he']],
  ['ends_with', 'lo', 'hello', 'world', 0],
  ['gt', 3, 3.5, 3, '4'],
  ['gte', 3, 3, 2.9, '4'],
  ['lt', 3, 2, 3, '2'],
  ['lte', 3, 3, 3.1, null],
  ['exists', undefined, 0, null, undefined],
  ['ip_in_cidr', ['10.0.0.0/8', '2001:db8::/32'], '10.1.2.3', '11.1.2.3', 'ten'],
  ['ip_in_cidr', '10.0.0.0/8', '::ffff:10.1.2.3', '::ffff:b01:203', 10],
  ['ip_in_cidr', '10.0.0.0/8', '::ffff:a01:203', '2001:db8::1', true],
  ['ip_in_cidr', '::ffff:10.0.0.0/104', '10.255.0.1', '11.0.0.1', ''],
  ['ip_in_cidr', '2001:db8::/32', '2001:db8:1::', '2001:db9::', '2001:db8::/32'],
  ['ip_in_cidr', '192.0.2.1', '192.0.2.1', '192.0.2.2', {}],
  ['ip_in_cidr', '::/0', '2001:db8::1', '192.0.2.1', 'fe80::1%eth0'],
  ['ip_not_in_cidr', '10.0.0.0/8', '11.0.0.1', '10.0.0.1', 'eleven'],
  ['time_after', '18:00', '18:00:01', '18:00', 1_800],
  ['time_after', '2026-11-20T10:00Z', '2026-11-20T11:00:00.001+01:00', '2026-11-20T11:00:00+01:00', '12:00'],
  ['time_before', '18:00', '17:59:59', '18:00', 'tomorrow'],
  ['time_between', ['22:00', '06:00'], '23:30', '06:00', '24:00'],
  ['time_between', ['22:00', '06:00'], '05:59:59', '21:59', '2026-02-30T23:00:00Z'],
  ['time_between', ['08:00', '10:00'], '2026-11-20T08:00:00Z', '2026-11-20T10:00:00Z', null],
  [
    'time_between',
    ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    '2026-01-31T23:59:59Z',
    '2026-02-01T00:00:00Z',
    '01:00',
  ],
  ['regex', '^a+b$', 'aaab', 'aaa', 7],
];

describe('operators', () => {
  test.each(operators)(
    '%s %j: %j holds, %j and %j do not, nor does a missing field',
    (operator, value, match, other, wrong) => {
      const condition: Condition = { field: 'x', operator, value };
      expect(() => checkConditions([condition])).not.toThrow();
      expect(holds(condition, { x: match })).toBe(true);
      expect(holds(condition, { x: other })).toBe(false);
      expect(holds(condition, wrong === undefined ? {} : { x: wrong })).toBe(false);
      expect(holds(condition, {})).toBe(false);
    },
  );

  test.each([
    ['neq', 'eq', 1],
    ['not_in', 'in', [1]],
    ['not_exists', 'exists', undefined],
  ])('%s is the plain negation of %s, also for a missing field', (negation, operator, value) => {
    for (const context of [{ x: 1 }, { x: 2 }, { x: '1' }, { x: null }, { x: [1] }, {}]) {
      expect(holds({ field: 'x', operator: negation, value }, context)).toBe(
        !holds({ field: 'x', operator, value }, context),
      );
    }
  });
});

test.each([
  ['eq', undefined, 'a value'],
  ['in', 'a', 'an array of at most 1000'],
  ['in', Array(1_001).fill(1), 'an array of at most 1000'],
  ['starts_with', 1, 'a string'],
  ['gt', '3', 'a number'],
  ['ip_in_cidr', '10.0.0.0/33', 'a CIDR block'],
  ['ip_in_cidr', [], 'a CIDR block'],
  ['ip_not_in_cidr', ['10.0.0.1', 'ten'], 'a CIDR block'],
  ['time_after', '25:00', 'an RFC 3339 time or HH:MM[:SS]'],
  ['time_after', '2026-02-30T00:00:00Z', 'an RFC 3339 time or HH:MM[:SS]'],
  ['time_between', ['22:00'], 'two times of day'],
  ['time_between', ['22:00', '2026-11-20T10:00:00Z'], 'two times of day'],
  ['regex', '(', 'an RE2 expression'],
  ['regex', '(?=a)b', 'an RE2 expression'],
  ['regex', '((a{100}){100})', 'an RE2 expression'],
  ['regex', { field: 'pattern' }, 'an RE2 expression'],
])('%s with value %j is refused on write', (operator, value, expected) => {
  const condition = { field: 'x', operator, value };
  expect(() => checkConditions([{ field: 'x', operator: 'exists' }, condition])).toThrow(
    `conditions[1].value: expected ${expected}`,
  );
});

test.each([
  [{ field: '', operator: 'exists' }, 'conditions[0].field: empty'],
  [
    { field: 'context.a.b.c.d.e.f.g.h.i', operator: 'exists' },
    'conditions[0].field: a path of more than 8 names',
  ],
  [{ field: 'x', operator: 'is' }, 'conditions[0].operator: unknown operator "is"'],
  [{ field: 'x', operator: 'constructor' }, 'conditions[0].operator: unknown operator "constructor"'],
  [
    { field: 'x', operator: 'time_after', value: '18:00', timezone: 'Mars/Base' },
    'conditions[0].timezone: unknown time zone',
  ],
  [{ field: 'x', operator: 'eq', value: 'x'.repeat(4_096) }, 'conditions[0].value: longer than 4 KiB'],
])('%j is refused on write', (condition, message) => {
  expect(() => checkConditions([condition])).toThrow(message);
});

describe('fields', () => {
  const attributes = {
    subject_attributes: { team: 'red', kind: 'ignored', attributes: { deep: 1 } },
    resource_attributes: { owner: { id: 'u-1' }, 'a.b': 'dotted', a: { b: 'nested', c: 'only nested' } },
    action_attributes: { name: 'ignored', soft: true },
  };
  const read = (field: string, context: Attributes = {}) => {
    for (const value of [
      'user',
      'u-1',
      'read',
      'document',
      'd-1',
      'red',
      'dotted',
      'only nested',
      true,
      'ctx',
      7,
      1,
    ]) {
      if (holds({ field, operator: 'eq', value }, context, attributes)) return value;
    }
    return undefined;
  };

  test.each([
    ['subject.kind', 'user'],
    ['subject.id', 'u-1'],
    ['subject.team', 'red'],
    ['subject.attributes.team', 'red'],
    ['resource.type', 'document'],
    ['resource.id', 'd-1'],
    ['resource.owner.id', 'u-1'],
    ['resource.a.b', 'dotted'],
    ['resource.a.c', 'only nested'],
    ['action', 'read'],
    ['action.name', 'read'],
    ['action.soft', true],
    ['context.deep.er', 'ctx'],
    ['deep.er', 'ctx'],
    ['length', undefined],
    ['list.length', undefined],
    ['list.0', undefined],
    ['__proto__', undefined],
    ['constructor.name', undefined],
    ['context.toString', undefined],
  ])('%s is %j', (field, value) => {
    expect(read(field, { deep: { er: 'ctx' }, list: [7] })).toBe(value);
  });

  test('prototype names that are own members are read as any other', () => {
    const context: Attributes = JSON.parse('{"__proto__":{"constructor":7}}');
    expect(read('__proto__.constructor', context)).toBe(7);
  });

  test('a value may be another field, and a missing one makes the operator false', () => {
    const own: Condition = { field: 'subject.id', operator: 'eq', value: { field: 'resource.owner.id' } };
    expect(() => checkConditions([own])).not.toThrow();
    expect(holds(own, {}, attributes)).toBe(true);
    expect(holds(own, {})).toBe(false);
    expect(holds({ ...own, operator: 'neq' }, {})).toBe(true);
    expect(holds({ ...own, operator: 'gt' }, {}, attributes)).toBe(false);
  });

  test('time is the time of the context or of the decision, now only the latter', () => {
    const after = (field: string, context: Attributes) =>
      holds({ field, operator: 'time_after', value: '13:00' }, context);
    expect(after('time', {})).toBe(false);
    expect(after('time', { time: '14:00' })).toBe(true);
    expect(after('now', { now: '14:00', time: '14:00' })).toBe(false);
  });
});

describe('times of day in a zone', () => {
  const at = (time: string, value: string, timezone?: string) =>
    holds({ field: 'at', operator: 'time_after', value, ...(timezone && { timezone }) }, { at: time });

  test.each([
    // Berlin goes from 02:00 to 03:00 on 29 March 2026 at 01:00Z, and back on 25 October at 01:00Z.
    ['2026-03-29T00:59:59Z', '01:59:58', true],
    ['2026-03-29T00:59:59Z', '02:00', false],
    ['2026-03-29T01:00:00Z', '02:59:59', true],
    ['2026-10-25T00:59:59Z', '02:59', true],
    ['2026-10-25T01:00:00Z', '02:00', false],
    ['2026-10-25T01:00:00.001Z', '02:00', true],
  ])('%s in Berlin is after %s: %s', (time, value, expected) => {
    expect(at(time, value, 'Europe/Berlin')).toBe(expected);
  });

  test('the zone is UTC unless said, and does not move a time of day', () => {
    expect(at('2026-07-01T17:30:00Z', '18:00')).toBe(false);
    expect(at('2026-07-01T17:30:00Z', '18:00', 'Europe/Berlin')).toBe(true);
    expect(at('17:30', '18:00', 'Europe/Berlin')).toBe(false);
  });
});

test('a regex of nested quantifiers over 4,096 characters ends, and is false for longer fields', () => {
  // Backtracking would take some 2^4096 steps.
  const nested: Condition = { field: 'x', operator: 'regex', value: '^(a+)+(b*)*$' };
  expect(holds(nested, { x: `${'a'.repeat(4_095)}!` })).toBe(false);
  expect(holds(nested, { x: 'a'.repeat(4_096) })).toBe(true);
  expect(holds(nested, { x: 'a'.repeat(4_097) })).toBe(false);
});

describe('what is too long to be judged is unknown', () => {
  const judged = (condition: Condition, context: Attributes) => {
    const situation = situationOf({ input: check('user:u-1 read document:d-1', { context }), now: testNow });
    return [compileCondition(condition)(situation), situation.isTooLong];
  };
  const regex = (value: string): Condition => ({ field: 'x', operator: 'regex', value });

  test.each([
    ['a short text', regex('[a-d].{400}x'), { x: 'abc' }, [false, false]],
    ['a text too long for its expression', regex('[a-d].{400}x'), { x: 'a'.repeat(400) }, [false, true]],
    ['a text too long for any', regex('^a+$'), { x: 'a'.repeat(4_097) }, [false, true]],
    [
      'an array that fits',
      { field: 'x', operator: 'in', value: { field: 'y' } },
      { x: 1, y: [1, 2] },
      [true, false],
    ],
    [
      'an array of an attribute that is too long',
      { field: 'x', operator: 'in', value: { field: 'y' } },
      { x: 1, y: Array.from({ length: 1_001 }, () => 1) },
      [false, true],
    ],
  ])('%s', (_name, condition, context, expected) => {
    expect(judged(condition, context)).toEqual(expected);
  });
});

test('values are equal whatever the order of their members, and not for what they look like', () => {
  const same = (a: unknown, b: unknown) => holds({ field: 'x', operator: 'eq', value: a }, { x: b });
  expect(same({ a: 1, b: [{ c: 2, d: null }] }, { b: [{ d: null, c: 2 }], a: 1 })).toBe(true);
  expect(same({ a: 1 }, { a: '1' })).toBe(false);
  expect(same([1, [2]], [[1], 2])).toBe(false);
  expect(same(['a,b'], ['a', 'b'])).toBe(false);
  expect(same({ a: 0 }, { a: -0 })).toBe(true);
  expect(same(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}'))).toBe(true);
  expect(same(JSON.parse('{"__proto__":1}'), {})).toBe(false);
  expect(same([null], [Infinity])).toBe(false);
});
