import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestTimeOf, onThisMachine } from '../../../testing/processor-time.ts';
import type { FormField } from '../../../../generated/auth/types.ts';
import { answersTo, problemOfFields } from './form-rules.ts';

const field = (members: Partial<FormField> = {}): FormField => ({
  key: 'company',
  label: 'Company',
  type: 'text',
  placeholder: '',
  description: '',
  default: null,
  options: [],
  order: 1,
  validation: {},
  ...members,
});
const options = [
  { label: 'A', value: 'a' },
  { label: 'B', value: 'b' },
];

describe('the questions of a form', () => {
  it.each<[FormField[], string | undefined]>([
    [[], undefined],
    [[field(), field({ key: 'size' })], undefined],
    [[field(), field()], 'fields[1].key: already in the form'],
    [
      [field({ validation: { min_len: 5, max_len: 4 } })],
      'fields[0].validation.max_len: must be at least min_len',
    ],
    [[field({ validation: { min: 2, max: 1 } })], 'fields[0].validation.max: must be at least min'],
    [[field({ type: 'select' })], 'fields[0].options: must not be empty'],
    [
      [field({ type: 'radio', options: [options[0]!, options[0]!] })],
      'fields[0].options: must have different values',
    ],
    [
      [field({ validation: { pattern: '(' } })],
      'fields[0].validation.pattern: must be an RE2 expression with a program of at most 1000 instructions',
    ],
    [
      [field({ validation: { pattern: '(a)\\1' } })],
      'fields[0].validation.pattern: must be an RE2 expression with a program of at most 1000 instructions',
    ],
  ])('%#', (fields, problem) => expect(problemOfFields(fields)).toBe(problem));
});

describe('an answer', () => {
  const judged = (asked: Partial<FormField>, value: unknown) =>
    answersTo([field(asked)], { company: value }).problems[0]?.message;

  it.each<[Partial<FormField>, unknown, string | undefined]>([
    [{}, '', undefined],
    [{}, 5, 'must be text'],
    [{ validation: { required: true } }, '', 'required'],
    [{ validation: { required: true } }, '   ', 'required'],
    [{ validation: { required: true } }, null, 'required'],
    [{ validation: { min_len: 3 } }, 'ab', 'must have at least 3 characters'],
    [{ validation: { min_len: 3 } }, '', undefined],
    [{ validation: { max_len: 2 } }, '😀😀', undefined],
    [{ validation: { max_len: 2 } }, 'abc', 'must have at most 2 characters'],
    [{ validation: { pattern: '[a-z]+' } }, 'abc', undefined],
    [{ validation: { pattern: '[a-z]+' } }, 'abc1', 'must match [a-z]+'],
    [{ type: 'email' }, 'ada@example.com', undefined],
    [{ type: 'email' }, 'ada@', 'must be an email address'],
    [{ type: 'url' }, 'https://example.com', undefined],
    [{ type: 'url' }, 'javascript:alert(1)', 'must be a URL'],
    [{ type: 'tel' }, '+4930901820', undefined],
    [{ type: 'tel' }, '12', 'must be a phone number with its country code'],
    [{ type: 'date' }, '2024-02-29', undefined],
    [{ type: 'date' }, '2026-02-29', 'must be a date like 2026-11-20'],
    [{ type: 'date' }, '29.02.2024', 'must be a date like 2026-11-20'],
    [{ type: 'number' }, 5, undefined],
    [{ type: 'number' }, '5.5', undefined],
    [{ type: 'number' }, 'x', 'must be a number'],
    [{ type: 'number' }, '1e999', 'must be a number'],
    [{ type: 'number', validation: { min: 1 } }, 0, 'must be at least 1'],
    [{ type: 'number', validation: { max: 1 } }, '2', 'must be at most 1'],
    [{ type: 'checkbox' }, true, undefined],
    [{ type: 'checkbox' }, 'on', 'must be true or false'],
    [{ type: 'checkbox', validation: { required: true } }, false, 'required'],
    [{ type: 'switch', validation: { required: true } }, false, undefined],
    [{ type: 'select', options }, 'a', undefined],
    [{ type: 'radio', options }, 'c', 'must be one of the options'],
  ])('to %j: %j', (asked, value, problem) => expect(judged(asked, value)).toBe(problem));

  it('is trimmed; what the form does not ask for stays', () =>
    expect(answersTo([field()], { company: ' ACME ', plan: ' x ' }).metadata).toEqual({
      company: 'ACME',
      plan: ' x ',
    }));

  it('that is missing is a problem also where nothing was given, in the order of the form', () => {
    const required = { required: true };
    const fields = [
      field({ key: 'b', order: 2, validation: required }),
      field({ key: 'a', order: 1, validation: required }),
    ];
    expect(answersTo(fields, {}).problems).toEqual([
      { field: 'metadata.a', message: 'required' },
      { field: 'metadata.b', message: 'required' },
    ]);
  });

  it('is not taken from the prototype', () =>
    expect(answersTo([field({ key: 'constructor', validation: { required: true } })], {}).problems).toEqual([
      { field: 'metadata.constructor', message: 'required' },
    ]));

  it('to a pattern that makes other engines explode is judged in linear time', () => {
    const evil = field({ validation: { pattern: '(a+)+$' } });
    expect(answersTo([evil], { company: `${'a'.repeat(5_000)}!` }).problems).toHaveLength(1);
  });

  it('of any kind has an answer', () =>
    fc.assert(
      fc.property(
        fc.constantFrom<FormField['type']>(
          ...([
            'text',
            'email',
            'number',
            'tel',
            'url',
            'date',
            'textarea',
            'checkbox',
            'switch',
            'select',
          ] as const),
        ),
        fc.anything(),
        (type, value) => {
          expect(answersTo([field({ type, options })], { company: value }).problems.length).toBeLessThan(2);
        },
      ),
    ));
});

describe('patterns that take long', () => {
  const asking = (count: number, pattern: string) =>
    Array.from({ length: count }, (_, at) => field({ key: `k${at}`, validation: { pattern } }));

  it('are refused, one by one and together', () => {
    expect(problemOfFields(asking(1, '(a?){990}'.repeat(10)))).toContain('of at most 1000 instructions');
    expect(problemOfFields(asking(50, '[a-z]{1,30}'))).toMatch(
      /^fields\[\d+\].validation.pattern: the patterns of a form may have 2000 instructions together$/,
    );
    expect(problemOfFields(asking(50, '^[A-Z]{2}[0-9]{4,8}$'))).toBeUndefined();
  });

  it('do not keep others waiting, whatever was stored before there was a rule', () => {
    const answers = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'a'.repeat(300)]));
    for (const pattern of ['(a?){990}'.repeat(10), '(?:.{1,30}[ab]){15}[xyz]', '(a|b|ab)*c']) {
      const fields = asking(50, pattern);
      const judge = () => answersTo(fields, answers);
      expect(judge().problems).toHaveLength(50);
      expect(bestTimeOf(judge)).toBeLessThan(onThisMachine(50));
    }
    expect(answersTo(asking(1, 'a+'), { k0: 'a'.repeat(5_000) }).problems[0]?.message).toBe(
      'is too long to be compared with a+',
    );
  });
});
