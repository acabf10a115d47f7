import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/services/sync/types.ts';
import { cellKey, type Cell } from '../../src/sync/cells.ts';
import { cellsOf, changeOf } from '../../src/sync/changes.ts';
import { toText } from '../../src/sync/hlc.ts';
import { isSame, join, merge, tombstoneOf, valueOf, viewOf, type RecordCells } from '../../src/sync/merge.ts';

type Node = 'a' | 'b' | 'c';
const hlc = (timestamp: number, node_id: Node = 'a', counter = 0) => ({ timestamp, counter, node_id });
const base = (time: ReturnType<typeof hlc>, field = 'f') => ({
  ...{ table: 'notes', pk: 'n', field, hlc: time, node_id: time.node_id },
});
const tag = (timestamp: number, node: Node = 'a') => toText(hlc(timestamp, node));

const write = (value: unknown, timestamp: number, node?: Node): Change => ({
  ...base(hlc(timestamp, node)),
  ...{ crdt_type: 'lww', value },
});
const count = (inc: number, dec: number, timestamp: number, node?: Node, since?: string): Change => ({
  ...base(hlc(timestamp, node)),
  ...{ crdt_type: 'counter', counter_delta: { inc, dec, ...(since !== undefined && { since }) } },
});
const add = (element: unknown, timestamp: number, node?: Node): Change => ({
  ...base(hlc(timestamp, node)),
  ...{ crdt_type: 'set', set_op: { op: 'add', element } },
});
const remove = (element: unknown, tags: string[], timestamp: number, node?: Node): Change => ({
  ...base(hlc(timestamp, node)),
  ...{ crdt_type: 'set', set_op: { op: 'remove', element, tags } },
});
const erase = (timestamp: number, node?: Node): Change => ({
  ...base(hlc(timestamp, node), ''),
  ...{ crdt_type: 'lww', tombstone: true },
});

function merged(changes: readonly Change[]): RecordCells {
  const record: RecordCells = new Map();
  for (const cell of changes.flatMap(cellsOf)) merge(record, cell);
  return record;
}

/** What is seen after the changes, in any order: the test fails if orders differ. */
function seen(...changes: Change[]): unknown {
  const views = orders(changes).map((order) => {
    const { tombstone, fields } = viewOf(merged(order).values());
    const field = fields.get('f');
    return { deleted: tombstone !== '' && fields.size === 0, value: field && valueOf(field) };
  });
  for (const view of views) expect(view).toEqual(views[0]);
  return views[0]?.deleted ? 'deleted' : views[0]?.value;
}

const orders = <Item>(items: Item[]): Item[][] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, at) => orders(items.toSpliced(at, 1)).map((others) => [item, ...others]));

describe('changes in any order', () => {
  const T = toText(hlc(20));
  it.each<[string, unknown, Change[]]>([
    ['registers at one time are ordered by node', 'y', [write('x', 10, 'a'), write('y', 10, 'b')]],
    ['the later register wins', 'x', [write('x', 11, 'a'), write('y', 10, 'b')]],
    ['registers of one time and node are ordered by value', 1, [write(1, 10), write('1', 10)]],
    ['an absent value is null', null, [{ ...base(hlc(10)), crdt_type: 'lww' }]],
    ['counters are maxima of nodes, summed up', 4, [count(5, 1, 1), count(3, 2, 2), count(1, 0, 3, 'b')]],
    ['an element is there while an add remains', ['x'], [add('x', 1), remove('x', [tag(1)], 2), add('x', 3)]],
    ['an element is gone without adds', undefined, [add('x', 1), remove('x', [tag(1)], 2)]],
    ['a concurrent add survives a removal', ['x'], [add('x', 1), add('x', 1, 'b'), remove('x', [tag(1)], 2)]],
    [
      'an add is removed once',
      undefined,
      [add('x', 1), remove('x', [tag(1)], 2), remove('x', [tag(1)], 3, 'b')],
    ],
    ['elements are equal by value', [1], [add(1, 1), add(1.0, 2, 'b')]],
    ['a text is not a number', ['1', 1], [add(1, 1), add('1', 2, 'b')]],
    [
      'the order of members does not matter',
      [{ a: 1, b: 2 }],
      [add({ a: 1, b: 2 }, 1), add({ b: 2, a: 1 }, 2)],
    ],
    ['a removal names its element', [1], [add(1, 1), remove('1', [tag(1)], 2)]],
    ['a deletion hides what is earlier', 'deleted', [write('x', 15), erase(20)]],
    ['a deletion hides what is at its time', 'deleted', [write('x', 20), erase(20)]],
    ['a deletion leaves what is later', 'y', [write('x', 15), erase(20), write('y', 25)]],
    [
      'totals that fell count as far as no deletion hides them',
      3,
      [count(7, 0, 15), count(3, 0, 25), erase(20)],
    ],
    ['without a deletion, the largest totals count', 6, [count(7, 0, 15), count(3, 1, 25), count(5, 0, 16)]],
    ['a counter begins anew', 1, [count(7, 0, 15), erase(20), count(1, 0, 25, 'a', T)]],
    ['an add before a deletion is gone', 'deleted', [add('x', 15), erase(20), remove('x', [tag(15)], 25)]],
    ['an add after a deletion is there', ['x'], [add('x', 15), erase(20), add('x', 21)]],
    ['the latest type is shown', 3, [write('x', 1), add('x', 2), count(3, 0, 3)]],
    ['at one time, a set precedes a register', ['x'], [write('y', 1), add('x', 1)]],
    ['at one time, a register precedes a counter', 'y', [write('y', 1), count(3, 0, 1)]],
  ])('%s', (_, expected, changes) => expect(seen(...changes)).toEqual(expected));

  it('of a type that is not known are skipped', () => {
    expect(cellsOf({ ...write('x', 1), crdt_type: 'list' })).toEqual([]);
    expect(merged([write('x', 1), { ...write('y', 2), crdt_type: 'list' }]).size).toBe(1);
  });

  it('reach names that are dangerous in programs', () => {
    const { fields } = viewOf(merged([{ ...write({}, 1), field: '__proto__' }]).values());
    expect([...fields.keys()]).toEqual(['__proto__']);
  });
});

const node = fc.constantFrom<Node>('a', 'b', 'c');
const time = fc.integer({ min: 1, max: 12 });
const element = fc.constantFrom<unknown>('x', 1, { a: [1] });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.constantFrom('x', 'y', 1, null), time, node).map(([value, at, by]) => write(value, at, by)),
  // The totals of a node that lost its storage fall.
  fc
    .tuple(time, node, fc.option(time), fc.nat(5), fc.nat(5))
    .map(([at, by, since, inc, dec]) =>
      count(inc, dec, at + 1, by, since === null ? undefined : tag(Math.min(since, at), 'b')),
    ),
  fc.tuple(element, time, node).map(([value, at, by]) => add(value, at, by)),
  fc.tuple(element, fc.array(time, { minLength: 1, maxLength: 3 }), time, node).map(([value, tags, at, by]) =>
    remove(
      value,
      tags.map((each) => tag(each)),
      at + 12,
      by,
    ),
  ),
  fc.tuple(time, node).map(([at, by]) => erase(at, by)),
);
const history = fc.array(change, { maxLength: 12 });
const sorted = (record: RecordCells) =>
  [...record.values()].sort((a, b) => (cellKey(a) < cellKey(b) ? -1 : 1));

describe('merging', () => {
  it('does not depend on order, repetition or grouping', () => {
    fc.assert(
      fc.property(history, history, fc.infiniteStream(fc.nat()), (one, other, random) => {
        const expected = merged([...one, ...other]);
        const shuffled = [...one, ...other, ...one]
          .map((item) => ({ item, at: random.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item);
        const joined = merged(one);
        for (const cell of merged(other).values()) merge(joined, cell);
        for (const record of [merged(shuffled), merged([...other, ...one]), joined]) {
          expect(sorted(record)).toEqual(sorted(expected));
          expect(viewOf(record.values())).toEqual(viewOf(expected.values()));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('joins cells commutatively, associatively and idempotently', () => {
    const total = fc.tuple(fc.nat(3), fc.nat(3)).map(([inc, dec]) => count(inc, dec, 1));
    const any = fc.oneof(
      change.filter(({ crdt_type }) => crdt_type !== 'counter'),
      total,
    );
    const cells = fc.tuple(any, any, any).filter(([a, b, c]) => {
      const keys = [a, b, c].map((each) => cellKey(cellsOf(each)[0]!));
      return keys[0] === keys[1] && keys[1] === keys[2];
    });
    fc.assert(
      fc.property(cells, (changes) => {
        const [a, b, c] = changes.map((each) => cellsOf(each)[0]!) as [Cell, Cell, Cell];
        expect(isSame(join(a, b), join(b, a))).toBe(true);
        expect(isSame(join(join(a, b), c), join(a, join(b, c)))).toBe(true);
        expect(join(a, a)).toBe(a);
      }),
      { numRuns: 50 },
    );
  });

  it('reports whether it changed anything', () => {
    fc.assert(
      fc.property(history, change, (changes, last) => {
        const record = merged(changes);
        for (const cell of cellsOf(last)) {
          const before = sorted(record);
          const changed = merge(record, cell);
          expect(JSON.stringify(sorted(record)) !== JSON.stringify(before)).toBe(changed);
          expect(merge(record, cell)).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps no cell that a deletion covers', () => {
    fc.assert(
      fc.property(history, (changes) => {
        const record = merged(changes);
        for (const { kind, hlc: at } of record.values())
          expect(kind === 't' || at > tombstoneOf(record)).toBe(true);
      }),
    );
  });

  it('loses nothing on the way through changes', () => {
    fc.assert(
      fc.property(history, (changes) => {
        const record = merged(changes);
        const again = merged([...record.values()].map(changeOf));
        expect(sorted(again)).toEqual(sorted(record));
      }),
    );
  });
});
