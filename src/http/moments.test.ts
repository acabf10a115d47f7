import { expect, test } from 'vitest';
import { normalMoments } from './moments.ts';

test('every place has its own: members, items and values of maps', () => {
  const given = '2026-11-20T09:30:00+01:00';
  const normal = '2026-11-20T08:30:00.000Z';
  const body = {
    at: given,
    note: given,
    none: null,
    many: [{ at: given, note: given }, 'text', null],
    map: { one: given, other: 5 },
  };
  const moments = {
    members: {
      at: true,
      none: true,
      absent: true,
      many: { items: { members: { at: true } } },
      map: { values: true },
    },
  } as const;
  normalMoments(moments, body, '');
  expect(body).toEqual({
    at: normal,
    note: given,
    none: null,
    many: [{ at: normal, note: given }, 'text', null],
    map: { one: normal, other: 5 },
  });
});

test.each([
  [
    { members: { a: { items: true } } } as const,
    { a: ['2026-01-01T00:00:00Z', 'noon'] },
    'a[1]: must be a time',
  ],
  [{ members: { a: { members: { b: true } } } } as const, { a: { b: 'noon' } }, 'a.b: must be a time'],
  [{ items: { members: { b: true } } } as const, [{ b: 'noon' }], '[0].b: must be a time'],
  [{ values: true } as const, { ['x'.repeat(100)]: 'noon' }, `${'x'.repeat(63)}…: must be a time`],
  [true as const, 'noon', 'body: must be a time'],
])('%j names the field of %j', (moments, body, message) => {
  expect(() => normalMoments(moments, body, '')).toThrow(message);
});

test.each([5, null, undefined, true, [], {}])('%j is left to the validators', (value) => {
  expect(normalMoments(true, value, 'at')).toBe(value);
  expect(normalMoments({ members: { at: true } }, value, '')).toBe(value);
});
