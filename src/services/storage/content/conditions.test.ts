import { describe, expect, test } from 'vitest';
import { checkWrite, judgeRead, judgeWrite, writeCondition, type ConditionHeaders } from './conditions.ts';
import { matchesStrongly, matchesWeakly, parseEntityTags } from './entity-tag.ts';

const etag = '"a"';
const current = { etag, last_modified: '2026-11-20T09:46:41.700Z' };
const before = 'Fri, 20 Nov 2026 09:46:40 GMT';
const same = 'Fri, 20 Nov 2026 09:46:41 GMT';
const later = 'Fri, 20 Nov 2026 09:46:42 GMT';

describe('conditions of a read, in the order of RFC 9110', () => {
  test.each<[ConditionHeaders, string]>([
    [{}, 'proceed'],
    [{ ifMatch: '"a"' }, 'proceed'],
    [{ ifMatch: '"b", "a"' }, 'proceed'],
    [{ ifMatch: '*' }, 'proceed'],
    [{ ifMatch: '"b"' }, 'failed'],
    [{ ifMatch: 'W/"a"' }, 'failed'],
    [{ ifMatch: '"a"', ifUnmodifiedSince: before }, 'proceed'],
    [{ ifMatch: '"b"', ifNoneMatch: '"a"' }, 'failed'],
    [{ ifMatch: '"a"', ifNoneMatch: '"a"' }, 'notModified'],
    [{ ifUnmodifiedSince: before }, 'failed'],
    [{ ifUnmodifiedSince: same }, 'proceed'],
    [{ ifUnmodifiedSince: later }, 'proceed'],
    [{ ifUnmodifiedSince: 'yesterday' }, 'proceed'],
    [{ ifNoneMatch: '"a"' }, 'notModified'],
    [{ ifNoneMatch: 'W/"a"' }, 'notModified'],
    [{ ifNoneMatch: '*' }, 'notModified'],
    [{ ifNoneMatch: '"b"' }, 'proceed'],
    [{ ifNoneMatch: '"b"', ifModifiedSince: later }, 'proceed'],
    [{ ifModifiedSince: before }, 'proceed'],
    [{ ifModifiedSince: same }, 'notModified'],
    [{ ifModifiedSince: later }, 'notModified'],
    [{ ifModifiedSince: '2026-11-20T09:46:42Z' }, 'proceed'],
  ])('%j: %s', (headers, verdict) => expect(judgeRead(headers, current)).toBe(verdict));
});

/** For each: the verdict when the object exists, and when it does not. */
const writes: [ConditionHeaders, string, string][] = [
  [{}, 'proceed', 'proceed'],
  [{ ifNoneMatch: '*' }, 'failed', 'proceed'],
  [{ ifNoneMatch: '"a"' }, 'failed', 'proceed'],
  [{ ifNoneMatch: 'W/"a"' }, 'failed', 'proceed'],
  [{ ifNoneMatch: '"b"' }, 'proceed', 'proceed'],
  [{ ifMatch: '*' }, 'proceed', 'failed'],
  [{ ifMatch: '"a"' }, 'proceed', 'failed'],
  [{ ifMatch: '"b"' }, 'failed', 'failed'],
  [{ ifMatch: 'W/"a"' }, 'failed', 'failed'],
  [{ ifMatch: '"a"', ifNoneMatch: '"a"' }, 'failed', 'failed'],
  [{ ifMatch: '"a"', ifNoneMatch: '"b"' }, 'proceed', 'failed'],
  [{ ifUnmodifiedSince: before }, 'failed', 'proceed'],
  [{ ifUnmodifiedSince: same }, 'proceed', 'proceed'],
  [{ ifMatch: '"a"', ifUnmodifiedSince: before }, 'proceed', 'failed'],
  [{ ifNoneMatch: '*', ifUnmodifiedSince: later }, 'failed', 'proceed'],
];

describe('conditions of a write', () => {
  test.each(writes)('%j: %s, without an object %s', (headers, existing, absent) => {
    expect(judgeWrite(headers, current)).toBe(existing);
    expect(judgeWrite(headers, undefined)).toBe(absent);
  });

  test('a failed one is a refusal', () => {
    expect(() => checkWrite({ ifNoneMatch: '*' }, current)).toThrow('precondition failed');
    expect(() => checkWrite({ ifMatch: '"a"' }, current)).not.toThrow();
  });

  test.each(writes)('mean the same to a statement: %j', (headers, existing) => {
    const { match, none_match, unmodified_since } = writeCondition(headers) ?? {};
    const isMatch = (tags: readonly string[]) => tags.includes('*') || tags.includes(etag);
    const holds =
      (!match || isMatch(match)) &&
      (!none_match || !isMatch(none_match)) &&
      (!unmodified_since || new Date(same) <= new Date(unmodified_since));
    expect(holds ? 'proceed' : 'failed').toBe(existing);
  });

  test('there are none to judge without headers', () => {
    expect(writeCondition({})).toBeUndefined();
    expect(writeCondition({ ifUnmodifiedSince: 'never' })).toBeUndefined();
  });
});

describe('lists of entity tags', () => {
  test.each([
    [' * ', '*'],
    ['"a"', [{ value: '"a"', weak: false }]],
    [
      '\t"a" , W/"b,c"\t',
      [
        { value: '"a"', weak: false },
        { value: '"b,c"', weak: true },
      ],
    ],
    ['""', [{ value: '""', weak: false }]],
    ['"ä"', [{ value: '"ä"', weak: false }]],
  ])('%j', (header, tags) => expect(parseEntityTags(header)).toEqual(tags));

  test.each([
    '',
    'a',
    '"a',
    'a"',
    '"a""b"',
    '"a",',
    ',"a"',
    '"a" "b"',
    '"a b"',
    'w/"a"',
    'W/ "a"',
    '*, "a"',
    '"\0"',
    '"\n"',
  ])('refused: %j', (header) => expect(() => parseEntityTags(header)).toThrow('invalid entity tag list'));

  test('weak tags match only weakly', () => {
    const tags = parseEntityTags('W/"a"');
    expect([matchesStrongly(tags, '"a"'), matchesWeakly(tags, '"a"')]).toEqual([false, true]);
  });
});
