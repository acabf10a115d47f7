import { describe, expect, test } from 'vitest';
import { newestFirst, type Order } from '../db/lists.ts';
import { encodeCursor } from '../lib/cursors.ts';
import { answerPage, pageOf, windowOf } from './lists.ts';

const byName = { columns: { name: 'string' }, direction: 'asc' } as const satisfies Order;
const place = { created_at: '2026-11-20T09:30:00.000Z', id: 'thing_1' };

describe('the window of a request', () => {
  test.each([
    [{ limit: 50 }, { order: newestFirst, limit: 50, offset: 0, after: null }],
    [
      { limit: 5, offset: 10 },
      { order: newestFirst, limit: 5, offset: 10, after: null },
    ],
    [
      { limit: 5, cursor: encodeCursor(place) },
      { order: newestFirst, limit: 5, offset: 0, after: place },
    ],
  ])('%j', (request, window) => {
    expect(windowOf(request)).toEqual(window);
  });

  test('in another order', () => {
    expect(windowOf({ limit: 5, cursor: encodeCursor({ name: 'a' }) }, byName)).toEqual({
      ...{ order: byName, limit: 5, offset: 0, after: { name: 'a' } },
    });
  });

  test.each(['', 'e30', encodeCursor({ name: 'a' }), encodeCursor({ ...place, created_at: 'now' })])(
    'with the cursor %j, which no such list gave, is refused',
    (cursor) => {
      expect(() => windowOf({ limit: 5, cursor })).toThrow('cursor: must be one that this list gave');
    },
  );
});

describe('a page', () => {
  const rows = (...names: string[]) => names.map((name) => ({ name, size: name.length }));
  test.each([
    ['of an empty list', [], undefined, [], null],
    ['that is not full', ['a'], undefined, ['a'], null],
    ['that is just full', ['a', 'b'], undefined, ['a', 'b'], null],
    ['with more after it', ['a', 'b', 'c'], undefined, ['a', 'b'], 'b'],
    ['of a store that stopped early', ['a'], 'x', ['a'], 'x'],
    ['of a store that stopped early and found nothing', [], 'x', [], 'x'],
    ['that is full, of a store that stopped later', ['a', 'b', 'c'], 'x', ['a', 'b'], 'b'],
  ])('%s', (_, read, resumed, items, next) => {
    const window = { order: byName, limit: 2 };
    expect(pageOf(window, rows(...read), resumed === undefined ? undefined : { name: resumed })).toEqual({
      items: rows(...items),
      next: next === null ? null : encodeCursor({ name: next }),
    });
  });

  test.each([
    [['a', 'b'], []],
    [['a', 'b', 'c'], [['X-Next-Cursor', encodeCursor({ name: 'b' })]]],
  ])('of %j sends the headers %j', (read, headers) => {
    const sent: unknown[] = [];
    const reply = { status() {}, header: (...header: unknown[]) => void sent.push(header) };
    answerPage(reply, { order: byName, limit: 2 }, rows(...read));
    expect(sent).toEqual(headers);
  });
});
