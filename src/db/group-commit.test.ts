import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateLimited } from '../lib/errors.ts';
import { groupCommit } from './group-commit.ts';

/** Creates a group commit whose writes end when the test tells them to. */
function controlled({ maxBatch = 100, maxBacklog = 1000, mostWeight = Infinity } = {}) {
  const batches: { items: number[]; commit(): void; fail(error: Error): void }[] = [];
  const group = groupCommit<number>({
    maxBatch,
    maxBacklog,
    weight: { of: (item) => item, most: mostWeight },
    overloaded: () => RateLimited('backlog is full', { retryAfter: 1 }),
    write: (items) => new Promise((commit, fail) => batches.push({ items, commit, fail })),
  });
  const batch = async (index: number) => {
    await expect.poll(() => batches.length).toBeGreaterThan(index);
    return batches[index]!;
  };
  return { group, batches, batch };
}

describe('groupCommit', () => {
  test('what arrives while a commit is in flight shares the next one', async () => {
    const { group, batches, batch } = controlled();
    const first = group.add(1);
    const one = await batch(0);
    const rest = [group.add(2), group.add(3), group.add(4, 5)];
    one.commit();
    await first;
    const two = await batch(1);
    expect(two.items).toEqual([2, 3, 4, 5]);
    two.commit();
    await Promise.all(rest);
    expect(batches).toHaveLength(2);
  });

  test('a batch weighs no more than it may, unless one item alone does', async () => {
    const { group, batch } = controlled({ mostWeight: 10 });
    const all = [group.add(4, 6, 1), group.add(50), group.add(2)];
    for (const [index, items] of [[4, 6], [1], [50], [2]].entries()) {
      const one = await batch(index);
      expect(one.items).toEqual(items);
      one.commit();
    }
    await Promise.all(all);
  });

  test('what is added in one turn of the event loop shares a commit', async () => {
    const { group, batch } = controlled();
    const all = [1, 2, 3].map((item) => group.add(item));
    const one = await batch(0);
    expect(one.items).toEqual([1, 2, 3]);
    one.commit();
    await Promise.all(all);
  });

  test('an item is acknowledged only after its own batch', async () => {
    const { group, batch } = controlled({ maxBatch: 1 });
    const done: string[] = [];
    const first = group.add(1).then(() => done.push('first'));
    const second = group.add(2).then(() => done.push('second'));
    (await batch(0)).commit();
    await first;
    const two = await batch(1);
    expect(done).toEqual(['first']);
    two.commit();
    await second;
  });

  test('a batch that fails refuses its own items and no others', async () => {
    const { group, batch } = controlled({ maxBatch: 2 });
    const results = Promise.allSettled([group.add(1), group.add(2), group.add(3)]);
    (await batch(0)).fail(new Error('disk'));
    (await batch(1)).commit();
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  test('a call that is spread over batches fails as a whole and its rest is not written', async () => {
    const { group, batch, batches } = controlled({ maxBatch: 2, maxBacklog: 4 });
    const spread = group.add(1, 2, 3, 4);
    const one = await batch(0);
    const after = group.add(5, 6);
    one.fail(new Error('disk'));
    await expect(spread).rejects.toThrow('disk');
    const two = await batch(1);
    expect(two.items).toEqual([5, 6]);
    two.commit();
    await after;
    expect(batches).toHaveLength(2);
    // The items that were not tried no longer count towards the backlog.
    const full = group.add(1, 2, 3, 4);
    (await batch(2)).commit();
    (await batch(3)).commit();
    await full;
  });

  test('a full backlog refuses the call with the error that the caller chose, and nothing of it is written', async () => {
    const { group, batch } = controlled({ maxBatch: 2, maxBacklog: 2 });
    const first = group.add(0);
    const one = await batch(0);
    const waiting = group.add(1, 2);
    await expect(group.add(3)).rejects.toMatchObject({ kind: 'rateLimited', retryAfter: 1 });
    one.commit();
    await first;
    const two = await batch(1);
    expect(two.items).toEqual([1, 2]);
    const again = group.add(4);
    two.commit();
    await waiting;
    const three = await batch(2);
    expect(three.items).toEqual([4]);
    three.commit();
    await again;
  });

  test('close writes what is waiting and refuses what comes later', async () => {
    const { group, batch } = controlled();
    const first = group.add(1);
    const one = await batch(0);
    const second = group.add(2);
    const closed = group.close();
    await expect(group.add(3)).rejects.toMatchObject({ kind: 'unavailable' });
    one.commit();
    (await batch(1)).commit();
    await Promise.all([first, second, closed]);
  });

  test('every item is written once and in order, whatever the calls and batch sizes', async () => {
    const calls = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 9 }), async (sizes, maxBatch) => {
        const written: number[] = [];
        const group = groupCommit<number>({
          maxBatch,
          maxBacklog: 1000,
          overloaded: () => new Error('full'),
          async write(items) {
            expect(items.length).toBeLessThanOrEqual(maxBatch);
            await Promise.resolve();
            written.push(...items);
          },
        });
        let next = 0;
        const expected: number[] = [];
        const adds = sizes.map((size) => {
          const items = Array.from({ length: size }, () => next++);
          expected.push(...items);
          return group.add(...items);
        });
        await Promise.all([...adds, group.flush()]);
        expect(written).toEqual(expected);
      }),
    );
  });
});
