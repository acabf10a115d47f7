import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import { Memo } from './memo.ts';
import { Model } from './model.ts';
import { randomCheck, randomStore } from './random-store.ts';
import { S } from './slices.ts';
import {
  assignment,
  check,
  decideWith,
  emptyStore,
  fullModel,
  testNow,
  testOptions,
  partialModel,
} from './testing.ts';
import { randomFrom, readSlice, tuple } from './testing.ts';
import type { Store } from './testing.ts';
import type { Change } from './types.ts';

const keyOf = ({
  id: _id,
  expires_at: _expiresAt,
  ...key
}: object & { id: string; expires_at: string | null }) => JSON.stringify(key);

/** Makes one random write to the facts. Changes the store and returns the change. */
function write(store: Store, random: (n: number) => number, revision: number): Change {
  const other = randomStore(random);
  if (random(3) === 0 && store.assignments.length > 0) {
    const [gone] = store.assignments.splice(random(store.assignments.length), 1);
    if (gone !== undefined) return { revision, entity: 'assignment', op: 'del', body: [gone] };
  }
  if (random(2) === 0 && store.tuples.length > 0) {
    const [gone] = store.tuples.splice(random(store.tuples.length), 1);
    if (gone !== undefined) return { revision, entity: 'relation', op: 'del', body: [gone] };
  }
  if (random(3) === 0) {
    const body = other.assignments;
    store.assignments = [
      ...new Map([...store.assignments, ...body].map((row) => [keyOf(row), row])).values(),
    ];
    return { revision, entity: 'assignment', op: 'put', body };
  }
  const body = other.tuples.slice(0, 3);
  store.tuples = [...new Map([...store.tuples, ...body].map((row) => [keyOf(row), row])).values()];
  return { revision, entity: 'relation', op: 'put', body };
}

test('changes keep full and partial models equal to one loaded anew, whatever slices they hold', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const store = randomStore(random);
      const [full, partial] = [fullModel(store), partialModel(store)];
      for (let revision = 2; revision < 8; revision++) {
        const inputs = Array.from({ length: 3 }, () => randomCheck(random));
        for (const input of inputs) decideWith(partial, store, input);
        const change = write(store, random, revision);
        for (const model of [full, partial]) model.apply([change]);
        if (random(3) === 0) partial.evict(partial.bytes - random(400));
        const fresh = fullModel(store);
        for (const input of [...inputs, randomCheck(random)]) {
          const { matched_by: _one, ...wanted } = decideWith(fresh, store, input);
          expect(decideWith(full, store, input)).toMatchObject(wanted);
          expect(decideWith(partial, store, input)).toMatchObject(wanted);
        }
        expect(full.factCount).toBe(fresh.factCount);
        expect(full.facts.bytes).toBe(fresh.facts.bytes);
      }
    }),
    { numRuns: 500 },
  );
}, 60_000);

describe('a fetch of slices', () => {
  const key = {
    slice: 'M',
    object_type: 'file',
    relation: 'viewer',
    object_id: '1',
    subject_type: 'user',
    subject_id: 'a',
  } as const;
  const row = tuple('file:1#viewer@user:a');
  const put: Change = { revision: 2, entity: 'relation', op: 'put', body: [row] };
  const del: Change = { revision: 3, entity: 'relation', op: 'del', body: [row] };
  const allowed = (model: Model) => decide(model, check('user:a viewer file:1'), testOptions).answer?.allowed;
  const usersets = { ...readSlice(emptyStore(), { ...key, slice: 'U' }) };

  test('a change that arrives while it is under way is applied to what it brings', () => {
    const model = partialModel(emptyStore());
    const fetch = model.beginFetch();
    const assigned = { key: { slice: 'A', subject_kind: 'user', subject_id: 'a' } } as const;
    model.apply([put, del]);
    model.addSlices(fetch, [{ key, tuples: [row] }, usersets, assigned], 2);
    expect(allowed(model)).toBe(false);
    expect(model.revision).toBe(3);
  });

  test('a change that is in the snapshot already is not applied twice', () => {
    const model = partialModel(emptyStore());
    const fetch = model.beginFetch();
    model.apply([put, del]);
    model.addSlices(fetch, [{ key, tuples: [] }, usersets], 3);
    expect(allowed(model)).toBe(false);
  });

  test('a snapshot that the model is behind is refused, and a fetch ends once', () => {
    const model = partialModel(emptyStore());
    const fetch = model.beginFetch();
    expect(() => model.addSlices(fetch, [{ key, tuples: [row] }], 2)).toThrow('cannot bring up to date');
    model.advance(2);
    model.addSlices(fetch, [{ key, tuples: [row] }, usersets], 2);
    expect(() => model.addSlices(fetch, [], 2)).toThrow('cannot bring up to date');
    model.endFetch(fetch);
  });
});

test('changes at or below the revision are ignored', () => {
  const model = fullModel(emptyStore(), 5);
  const body = [tuple('file:1#viewer@user:a')];
  model.apply([{ revision: 5, entity: 'relation', op: 'put', body }]);
  expect([model.factCount, model.revision]).toEqual([0, 5]);
  model.apply([
    { revision: 6, entity: 'relation', op: 'put', body },
    { revision: 6, entity: 'relation', op: 'put', body },
  ]);
  expect([model.factCount, model.revision]).toEqual([1, 6]);
});

describe('memory', () => {
  test('a model from which everything was deleted holds what an empty one holds', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const store = randomStore(randomFrom(seed));
        const empty = new Model('full').facts.bytes;
        const model = fullModel({ ...store, roles: [], resource_types: [] });
        model.apply([
          { revision: 2, entity: 'relation', op: 'del', body: store.tuples },
          { revision: 2, entity: 'assignment', op: 'del', body: store.assignments },
        ]);
        expect([model.factCount, model.facts.bytes]).toEqual([0, empty]);
      }),
      { numRuns: 300 },
    );
  });

  test('a slice that was used since the last eviction outlives one that was not', () => {
    const store = emptyStore({
      tuples: ['a', 'b', 'c', 'd'].map((user) => tuple(`file:1#viewer@user:${user}`)),
    });
    const model = partialModel(store);
    const key = (user: string) =>
      ({ slice: 'S', subject_type: 'user', subject_id: user, subject_relation: '' }) as const;
    const slices = ['a', 'b', 'c', 'd'].map((user) => readSlice(store, key(user)));
    model.addSlices(model.beginFetch(), slices, 1);
    const held = () =>
      ['a', 'b', 'c', 'd'].filter((user) => model.facts.findTuple(tuple(`file:1#viewer@user:${user}`)) >= 0);
    model.slices?.evictOne();
    expect(held()).toEqual(['b', 'c', 'd']);
    model.isKnown(S, model.facts.nodes.findNamed('user', '', 'b'));
    model.slices?.evictOne();
    expect(held()).toEqual(['b', 'd']);
  });

  test('a tuple stays as long as one of the slices that cover it', () => {
    const row = tuple('file:1#viewer@user:a');
    const store = emptyStore({ tuples: [row] });
    const model = partialModel(store);
    const object = { object_type: 'file', relation: 'viewer', object_id: '1' };
    const keys = [
      { slice: 'S', subject_type: 'user', subject_id: 'a', subject_relation: '' },
      { slice: 'M', ...object, subject_type: 'user', subject_id: 'a' },
      { slice: 'P', ...object },
    ] as const;
    model.addSlices(
      model.beginFetch(),
      keys.map((key) => readSlice(store, key)),
      1,
    );
    const held: boolean[] = [];
    while (model.slices?.evictOne()) held.push(model.facts.findTuple(row) >= 0);
    expect(held).toEqual([true, true, false]);
  });

  test('expired facts can be dropped', () => {
    const expired = new Date(testNow).toISOString();
    const model = fullModel(
      emptyStore({
        tuples: [tuple('file:1#viewer@user:a', expired), tuple('file:1#viewer@user:b')],
        assignments: [assignment('user:a', 'r', null, expired)],
      }),
    );
    model.dropExpired(testNow);
    expect(model.factCount).toBe(1);
  });

  test('checks about ever new types, actions and ids leave no more than the bounded memo', () => {
    for (const model of [fullModel(emptyStore()), partialModel(emptyStore())]) {
      const bytes = model.facts.bytes;
      for (let n = 0; n < 20_000; n++) {
        const input = check(`user:${n} action${n} type${n % 7}${'x'.repeat(20)}:${n}`);
        decideWith(model, emptyStore(), input);
        model.evict(bytes);
      }
      expect(model.derivedCount).toBeLessThanOrEqual(4_096);
      expect(model.facts.bytes).toBe(bytes);
    }
  });

  test('a memo keeps what is used and never holds more than its limit', () => {
    const memo = new Memo<number>(100);
    memo.set('a', 'hot', 1);
    for (let n = 0; n < 1_000; n++) {
      memo.set('__proto__', String(n), n);
      expect(memo.get('a', 'hot')).toBe(1);
      expect(memo.size).toBeLessThanOrEqual(100);
    }
    expect(memo.get('__proto__', '999')).toBe(999);
    expect(memo.get('__proto__', '0')).toBeUndefined();
    expect(memo.get('constructor', 'name')).toBeUndefined();
  });
});
